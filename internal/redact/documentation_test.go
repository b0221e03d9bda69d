package redact

import (
	"fmt"
	"strings"
	"testing"
)

// documentation is what skills say of secrets without having one, by its kind.
var documentation = map[string][]string{
	"references": {
		`-H "x-api-key: $SHOP_API_KEY"`, `export API_KEY=$MY_KEY`, `Authorization: Bearer ${TOKEN}`, `password: process.env.DB_PASSWORD`, `const token = process.env.GITHUB_TOKEN;`,
		`api_key = os.environ["OPENAI_API_KEY"]`, `api_key=os.environ.get("API_KEY", "")`, `token = os.getenv("TOKEN")`, `headers = {"Authorization": f"Bearer {token}"}`, `secret = f"{user}:{salt}"`,
		`api_key: ${{ secrets.DEPLOY_KEY }}`, `apiKey: import.meta.env.VITE_KEY,`, `password: "{{ vault_password }}"`, `$env:API_TOKEN = $token`, `set TOKEN=%TOKEN%`, `let key = std::env::var("API_KEY")?;`,
		"headers: { Authorization: `Bearer ${apiKey}` }", `curl -u "$USER:$PASSWORD" https://x.test`, `mysql -p$DB_PASS app`, `password=$(cat /run/secrets/db)`, `token: #{ENV["TOKEN"]}`, `SECRET_KEY = env("SECRET_KEY")`,
		`st.secrets["api_key"]`, `api_key=settings.OPENAI_API_KEY`, `Client(api_key=api_key, password=password)`, `password = config.password`, `"Authorization": "Bearer " + token`, `token=self.token)`,
	},
	"placeholders": {
		`export SHOP_API_KEY=your_api_key_here`, `STRIPE_KEY=sk_test_your_key`, `ANTHROPIC_API_KEY=sk-ant-api03-xxxx`, `token: "eyJhbGciOi..."`, `api_key='sk-...'`, `secret: !secret wifi_password`, `api_key: <your-api-key>`, `TOKEN=xxxxxxxx`, `password: ********`, `postgres://USER:PASSWORD@HOST:5432/db`, `mongodb+srv://<user>:<password>@cluster/db`, `API_KEY="your-key"`,
		`OPENAI_API_KEY=sk-your-key-here`, `key: sk-xxxxxxxxxxxxxxxxxxxx`, `Authorization: Bearer YOUR_TOKEN`, `Authorization: Bearer <token>`, `token: REPLACE_ME`, `password = "changeme"`, `secret: ...`, `api_key=API_KEY`,
		`--api-key YOUR_KEY`, `ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, `API_TOKEN=my_api_token`, `password: <PASSWORD>`, `client_secret=YOUR_CLIENT_SECRET`, `{"token": "<token>"}`, `{"api_key": "YOUR_API_KEY"}`, `x-api-key: {api_key}`,
	},
	"code": {
		`did_pass = rate >= 0.5`, `token = await getToken()`, `const token = await auth.login(user)`, `password = getpass.getpass()`, `api_key = request.headers.get("x-api-key")`, `if token == expected:`, `token = tokens[i]`, `secret = None`,
		`has_pass = score > 3 and done`, `password = input("Password: ")`, `pass = a if b else c`, `token: str = Field(...)`, `apiKey: string;`, `password: Optional[str] = None`, `token: z.string().min(1)`, `private_key = load_key(path)`,
		`const { token } = useAuth();`, `session_token = create_token(user_id)`, `password_hash = bcrypt.hash(password)`, `token = new Token(kind)`, `secret := rand.Text()`, `auth_token = fetch_token( url )`, `is_secret = name in SECRETS`,
	},
	"programs": {
		`token: TokenOpt = None,`, `    secret_key: Final = os.environ.get("X_SECRET_KEY")`, `valid_token=user_api_key_dict,`, `run(token=row_id)`, `"subject_token": subject_token,`, `token: float | None`, `api_key: Credential | None = None,`, `def of(self, token: dict) -> list:`,
		`self._secret_key = value`, `'access_key': parsed['AccessKeyId'],`, `token=creds['token'],`, `stream = archive.open(at, mode, pwd=pwd)`, `    api_key = (`, `headers["Authorization"] = _basic_auth(user)`, `"x-api-key": runner_api_key,`, `resolved_token: Final = outer_auth or None`,
	},
	"English": {
		`Authorization: the caller needs the role editor`, `Authorization: required for all endpoints`, `token: the access token of the session`, `Password: at least twelve characters`, `Secret: never put one in a prompt`, `token: obtained from the login call`,
		`- api_key: key of the account, from the dashboard`, `API key: ask the owner of the workspace`, `**token**: what the server gave you`, `Authorization: Bearer token in the header`, `the password is never logged`, `Credentials: see the vault`,
		`| token | string | the token of the bot |`, `# Secrets: how we keep them`, `- Passwords: rotate them each quarter`, "`token`: a string", `Access token: see below`,
	},
	"HTML": {
		`<label for="password">Password:</label>`, `<label for="password">Password</label>`, `<input type="password" name="password" placeholder="Password">`, `<th>API key</th><td>Secret</td>`, `<b>Token:</b> the one from above`,
		`<td>password:</td>`, `<option value="token">Token</option>`, `<span class="secret">Secret:</span>`, `<input type="password" value="" autocomplete="current-password">`, `<Label htmlFor="apiKey">Key</Label>`,
	},
}

// What documents say of secrets is none: it is not masked, and nothing is found in it.
func TestDocumentationHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	for what, lines := range documentation {
		for _, line := range lines {
			for _, text := range []string{line, "  " + line + "\n", "- " + line + " ", "```sh\n" + line + "\n```\n"} {
				if got := Text(text); got != text {
					t.Errorf("%s: %q became %q", what, text, got)
				}
				if found := Find(strings.Split(text, "\n")); len(found) > 0 {
					t.Errorf("%s: %q is reported: %v", what, text, found)
				}
			}
		}
	}
}

// made returns n bytes of an alphabet that look drawn by chance, the same each time.
func made(chars string, n int) string {
	var b strings.Builder
	state := uint32(n*7 + len(chars))
	for range n {
		state = state*1664525 + 1013904223
		b.WriteByte(chars[int(state>>16)%len(chars)])
	}
	return b.String()
}

const (
	base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base36 = "abcdefghijklmnopqrstuvwxyz0123456789"
	base16 = "0123456789abcdef"
	caps   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// realKeys are keys as services make them, with made-up values: none is in the source.
func realKeys() []string {
	b62 := func(n int) string { return made(base62, n) }
	hex := func(n int) string { return made(base16, n) }
	return []string{
		"sk-proj-" + b62(48), "sk-ant-api03-" + b62(93) + "AA", "sk-or-v1-" + hex(64), "sk_live_" + b62(24), "rk_live_" + b62(24), "whsec_" + b62(32), "ghp_" + b62(36), "gho_" + b62(36), "ghs_" + b62(36),
		"github_pat_" + b62(22) + "_" + b62(59), "glpat-" + b62(20), "npm_" + b62(36), "hf_" + made(base62, 34), "AKIA" + made(caps, 16), "ASIA" + made(caps, 16), "AIza" + b62(35), "ya29.a0" + b62(120), "GOCSPX-" + b62(28),
		"xoxb-" + made("0123456789", 12) + "-" + made("0123456789", 12) + "-" + b62(24), "xapp-1-A0" + made(caps, 9) + "-" + made("0123456789", 13) + "-" + hex(64), "https://hooks.slack.com/services/T" + made(caps, 8) + "/B" + made(caps, 8) + "/" + b62(24),
		"https://discord.com/api/webhooks/" + made("0123456789", 18) + "/" + b62(68), made("0123456789", 9) + ":AA" + b62(33), "SG." + b62(22) + "." + b62(43), "pypi-AgEIcHlwaS5vcmc" + b62(60), "dckr_pat_" + b62(27),
		"shpat_" + hex(32), "dop_v1_" + hex(64), "lin_api_" + b62(40), "figd_" + b62(40), "ntn_" + b62(46), "pat" + b62(14) + "." + hex(64), "EAA" + b62(120), "sq0atp-" + b62(22), "AGE-SECRET-KEY-1" + made(caps, 58), "key-" + hex(32),
		"gsk_" + b62(52), "xai-" + b62(80), "r8_" + b62(37), "dapi" + hex(32), b62(14) + ".atlasv1." + b62(67), "SK" + hex(32), "eyJhbGciOiJIUzI1NiJ9." + b62(40) + "." + b62(43), "sbp_" + hex(40), "ATATT3" + b62(180), "hvs." + b62(90),
		"glsa_" + b62(32) + "_" + hex(8), "sntrys_" + b62(80), "-----BEGIN RSA PRIVATE KEY-----\n" + b62(64) + "\n" + b62(64) + "\n-----END RSA PRIVATE KEY-----", "export DB_PASSWORD=" + b62(32), `"client_secret": "` + b62(40) + `"`,
		"API_KEY=" + made(base36, 32),
	}
}

// Keys of all these shapes are masked and found, alone and in the forms that documents have.
func TestRealKeysAreMaskedAndFound(t *testing.T) {
	t.Parallel()
	for i, key := range realKeys() {
		for _, form := range []string{"%s", "use %s.", "- `%s`", "    %s\n"} {
			text := fmt.Sprintf(form, key)
			got := Text(text)
			if body := key[len(key)-12:]; strings.Contains(got, body) && !strings.HasPrefix(body, "-") || !strings.Contains(got, Mask) {
				t.Errorf("%d: %q became %q", i, text, got)
			}
			found := Find(strings.Split(text, "\n"))
			if len(found) == 0 || found[0].Line != 0 {
				t.Errorf("%d: %q is not found", i, text)
			} else if named := strings.Contains(key, "=") || strings.Contains(key, `": "`); found[0].Shape == named {
				t.Errorf("%d: %q has a known shape: %v", i, text, found[0].Shape)
			}
		}
	}
}

// A key that is broken over two lines is one, and so is what is behind a sign of full width, and 64
// digits behind the name of a key.
func TestSecretsThatWereMissed(t *testing.T) {
	t.Parallel()
	first, rest := "ghp_"+made(base62, 14), made(base62, 22)
	secret := made(base16, 64)
	for _, tt := range []struct{ in, want string }{
		{"key " + first + "\n" + rest + "\nnext", "key " + Mask + "\n" + Mask + "\nnext"},
		{"key " + first + "\\\n    " + rest + "\n", "key " + Mask + "\\\n    " + Mask + "\n"},
		{`{"t": "key ` + first + `\n` + rest + `"}`, `{"t": "key ` + Mask + `\n` + Mask + `"}`},
		{"sk-proj-" + made(base62, 30) + "\r\n" + rest + "\r\n", Mask + "\r\n" + Mask + "\r\n"},
		{"password＝hunter22 x", "password＝" + Mask + " x"},
		{"API_TOKEN：" + rest, "API_TOKEN：" + Mask},
		{"x＝" + first + rest, "x＝" + Mask},
		{"key: " + secret, "key: " + Mask},
		{"encryption-key = 0x" + secret, "encryption-key = " + Mask},
		{`"session": "` + secret + `"`, `"session": "` + Mask + `"`},
		{"run(api_key=hunter22, x)", "run(api_key=" + Mask + ", x)"},
		{`"password": hunter22,`, `"password": "` + Mask + `",`},
		{"DB_PASSWORD=correct_horse", "DB_PASSWORD=" + Mask},
		{`api_key: Final = "` + rest + `"`, `api_key: Final = "` + Mask + `"`},
		{"sha256: " + secret, "sha256: " + secret},
		{"checksum = " + secret, "checksum = " + secret},
		{"hash: " + secret, "hash: " + secret},
		{"cache_key: " + secret, "cache_key: " + secret},
		{"sk-proj-" + made(base62, 30) + "\nlast words\n", Mask + "\nlast words\n"},
		{"sk-proj-" + made(base62, 30) + "\n2026-11-28\n", Mask + "\n2026-11-28\n"},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("%q became\n%q, want\n%q", tt.in, got, tt.want)
		}
	}
}

// Keys takes out what has the shape of a key, and nothing that only has a name.
func TestKeysLeavesNames(t *testing.T) {
	t.Parallel()
	key := "ghp_" + made(base62, 36)
	for in, want := range map[string]string{
		"password: hunter22 and token=abc123def456": "password: hunter22 and token=abc123def456", "api_key=" + key + " x": "api_key=" + Mask + " x", "Bearer abcdef1234567890": "Bearer abcdef1234567890",
		"postgres://me:pa55word@h": "postgres://me:pa55word@h", `{"password": "` + key + `"}`: `{"password": "` + Mask + `"}`,
	} {
		if got := Keys(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
