// Package redacttest has texts with secrets of many shapes, for the tests of whatever must not
// let one through.
//
// It knows nothing about how they are found.
package redacttest

import (
	"maps"
	"strings"
)

// Planted are texts with secrets between « and », by the shape of the secret. None is a key of
// anyone's.
func Planted() map[string]string {
	all := keys()
	maps.Copy(all, files())
	maps.Copy(all, commands())
	maps.Copy(all, code())
	return all
}

// keys are keys of services, alone and under names.
func keys() map[string]string {
	return map[string]string{
		"openai":               "key «sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb» used",
		"anthropic":            "«sk-ant-api03-Zx8Kq2Lm9Np4Rt6Vw1Yb-Aa»",
		"stripe live":          "«sk_live_4eC39HqLyjWDarjtT1zd»",
		"stripe test":          "«rk_test_4eC39HqLyjWDarjtT1zd».",
		"stripe hook":          "«whsec_Zx8Kq2Lm9Np4Rt6Vw1Yb3Dd5»",
		"github":               "git clone with «ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8»",
		"github server":        "(«ghs_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8»)",
		"github fine":          "«github_pat_11ABCDEFG0a1b2c3d4e5f6_g7h8i9j0k1l2m3n4o5p6»",
		"kubernetes":           "    client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=»",
		"pulumi":               "«pul-0123456789abcdef0123456789abcdef01234567»",
		"passphrase":           "passphrase: «correct horse battery staple», user: me",
		"passphrase, a word":   "PASSPHRASE=«correcthorse» next",
		"gitlab":               "«glpat-aB3dE5gH7jK9mN1pQ3sT»",
		"npm":                  "//registry.npmjs.org/:_authToken=«npm_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p»",
		"npm alone":            "«npm_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p» works",
		"hugging face":         "«hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ»",
		"aws":                  "«AKIAIOSFODNN7EXAMPLE» and more",
		"aws session":          "«ASIAIOSFODNN7EXAMPLE»",
		"aws secret":           "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
		"google":               "«AIzaSyA1234567890abcdefghijklmnopqrstu»",
		"google oauth":         "«ya29.a0AfH6SMBx1234567890abcdef»",
		"google client":        "«GOCSPX-aB3dE5gH7jK9mN1pQ3sT»",
		"slack":                "«xoxb-1234567890-abcdefghijkl»",
		"slack app":            "«xapp-1-A0123456789-1234567890-abcdef»",
		"slack hook":           "POST https://hooks.slack.com/services/«T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX»",
		"discord hook":         "https://discord.com/api/webhooks/«123456789012345678/aB3dE5gH7jK9mN1pQ3sT»",
		"discord bot":          "«MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK»",
		"telegram":             "«123456789:AAEhBP0av28frXqL6LZ8dF3vKj1mN5pQ7sT»",
		"sendgrid":             "«SG.aB3dE5gH7jK9mN1pQ3sTaB.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3»",
		"pypi":                 "«pypi-AgEIcHlwaS5vcmcCJDFhMmIzYzRk»",
		"docker":               "«dckr_pat_aB3dE5gH7jK9mN1pQ3sTaB3dE5g»",
		"shopify":              "«shpat_0123456789abcdef0123456789abcdef»",
		"digitalocean":         "«dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef»",
		"linear":               "«lin_api_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT»",
		"figma":                "«figd_aB3dE5gH7jK9mN1pQ3sT-aB3dE5gH7jK9mN1pQ3s»",
		"notion":               "«ntn_123456789012aB3dE5gH7jK9mN1pQ3sTaB3dE5g»",
		"airtable":             "«patAbCdEf12345678.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef»",
		"facebook":             "«EAACEdEose0cBA1234567890abcdefghijklmnop»",
		"square":               "«sq0atp-aB3dE5gH7jK9mN1pQ3sTaB»",
		"age":                  "«AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3J»",
		"mailgun":              "«key-0123456789abcdef0123456789abcdef»",
		"groq":                 "«gsk_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT»",
		"xai":                  "«xai-aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p»",
		"replicate":            "«r8_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p»",
		"databricks":           "«dapi0123456789abcdef0123456789abcdef»",
		"terraform":            "«aBcDeFgHiJkLmN.atlasv1.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT»",
		"twilio":               "«SK0123456789abcdef0123456789abcdef»",
		"web token":            "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U»",
		"pem":                  "x\n«-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----»\ny",
		"pem, cut":             "x «-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nBG5vbmUAAA»",
		"pem in json":          `{"k": "«-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----»\n", "n": 1}`,
		"pem in json, cut":     `{"k": "«-----BEGIN PRIVATE KEY-----\nMIIEow\nabc»", "n": 1}`,
		"basic":                "Authorization: Basic «dXNlcjpwYXNz»",
		"bearer":               "curl -H 'Authorization: Bearer «abc.def-ghi»' host",
		"bearer alone":         "sent Bearer «abcdef1234567890»",
		"cookie":               "Cookie: «session=abcdef; theme=dark»\nnext",
		"header":               "x-api-key: «k1»",
		"url":                  "postgres://app:«pa55word»@db.test/app",
		"url token":            "https://«0123456789abcdef0123»@github.com/me/x",
		"url in json":          `{"u": "redis:\/\/app:«pa55word»@db.test\/0"}`,
		"connection":           "Server=a;Password=«{a;b}»;User=z",
		"connection, quoted":   "Password=«'a;b'»;User=z",
		"connection, PWD":      "Server=a;PWD=«zzz»;",
		"account key":          "AccountName=x;AccountKey=«abc==»;EndpointSuffix=core",
		"shared access":        "https://x/?sv=1&sig=«abcDEF123%2B456»&se=2",
		"quoted":               `token=«"a b"» c`,
		"unterminated":         "password=«\"un terminated, and more»\nnext",
		"camel":                "myToken=«abc»",
		"variable":             "AZURE_CLIENT_SECRET=«qwe»",
		"short variable":       "export DB_PASS=«hunter»\nnext",
		"flag":                 "tool --password «secretword» --x",
		"call":                 "retry(token=«x7»)",
		"index":                `os.environ["API_KEY"] = "«v1»"`,
		"json":                 `{"api_key": "«v1»", 'token': '«v2»'}`,
		"json number":          `{"accessToken": «123», "n": 1}`,
		"json list":            `{"passwords": 2, "password": ["«a»", "«b c»"], "n": ["d"]}`,
		"json in json":         `{"text": "{\"api_key\": \"«v1»\", \"n\": 1}"}`,
		"line in json":         `{"text": "export TOKEN=«abc»\nls"}`,
		"key in json":          `{"text": "first\n«sk-abcDEF1234567890»\nlast"}`,
		"html":                 "&quot;api_key&quot;: &quot;«v1»&quot;",
		"encoded":              "https://x/?next=a%3Fapi_key%3D«abcdef»&y",
		"spoken":               "the password «hunter22» is ours, token «abc123def».",
		"random under a name":  "signing_salt: «aB3dE5gH7jK9mN1pQ3sTaB3d»",
		"yaml":                 "  client-secret: «z9»  # ours",
		"not ascii":            "ünï_token=«ß»",
		"supabase":             "«sbp_0123456789abcdef0123456789abcdef01234567»",
		"atlassian":            "«ATATT3xFfGF0aB3dE5gH7jK9mN1pQ3sT»",
		"vault":                "«hvs.CAESIaB3dE5gH7jK9mN1pQ3sT»",
		"grafana":              "«glsa_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK_0123abcd»",
		"sentry":               "«sntrys_eyJpYXQiOjE2ODczMzY1NDMuNjk4NTksInVybCI6bn»",
		"key before a bracket": "[«sk-abcDEF1234567890»]",
	}
}

// files are what stands in files of credentials, in connections and on command lines.
func files() map[string]string {
	return map[string]string{
		"netrc":                "machine git.test\n  login me@x.test\n  password «0f6b7f7f-0c11-4a57-9d53-6f1c2a348e0b»\n",
		"netrc, one line":      "machine github.com login me password «hunter22xyz»",
		"npmrc password":       "//npm.test/:_password=«cGFzc3dvcmQ=»",
		"npmrc auth":           "//npm.test/:_auth=«dXNlcjpwYXNzd29yZA==»",
		"pypirc":               "[pypi]\nusername = __token__\npassword = «hunter22»\n",
		"kubeconfig":           "- name: me\n  user:\n    token: «abcdef0123456789»\n",
		"docker auth":          `{"auths": {"https://index.docker.io/v1/": {"auth": "«dXNlcjpwYXNzd29yZA==»"}}}`,
		"docker identity":      `{"identitytoken": "«abcdef123456»"}`,
		"set cookie":           "Set-Cookie: «sid=abc123; HttpOnly»\nnext",
		"aws session token":    "AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2VjEJr»",
		"amazon header":        "X-Amz-Security-Token=«IQoJb3JpZ2luX2Vj»&x=1",
		"google refresh":       "refresh with «1//0gAbCdEfGhIjKlMnOpQrStUvWxYz-0123456789abcdefghij» again",
		"google key, new":      "«AQ.Ab8RN6aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3s»",
		"jdbc":                 "jdbc:mysql://h/db?user=u&password=«p4ss»&x=1",
		"mongodb":              "mongodb+srv://app:«pa55word»@c.test/db",
		"psql":                 "PGPASSWORD=«hunter22» psql -h x",
		"curl login":           "curl -u me:«hunter22» https://x.test",
		"sshpass":              "sshpass -p '«hunter22»' ssh me@h",
		"docker login":         "docker login -u me -p «hunter22» reg.test",
		"redis":                "redis-cli -h x -a «hunter22» ping",
		"mysql":                "mysqldump -u root -p«Secr!t123» app",
		"office hook":          "https://outlook.office.com/webhook/«0f6b7f7f-0c11@6f1c2a34/IncomingWebhook/0123456789abcdef/0f6b»",
		"fly":                  "«fm2_lJPECAAAAAAAAAAAxBCaB3dE5gH7jK9mN1pQ3sT»",
		"artifactory":          "«AKCp8aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3s»",
		"together":             "«tgp_v1_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3s»",
		"cerebras":             "«csk-aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9»",
		"firecrawl":            "«fc-0123456789abcdef0123456789abcdef»",
		"blob store":           "«vercel_blob_rw_aB3dE5gH7jK9mN1p_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7j»",
		"web token, encrypted": "«eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aB3dE5gH7jK9mN1p.mN1pQ3sTaB3d.mN1pQ3sT»",
		"kubeadm":              "kubeadm join 10.0.0.1:6443 --token «abcdef.0123456789abcdef»",
		"one-time seed":        "otpauth://totp/x:me?secret=«JBSWY3DPEHPK3PXP»&issuer=x",
		"xml":                  "<password>«hunter22»</password>",
	}
}

// commands are what programs are given on their command lines.
func commands() map[string]string {
	return map[string]string{
		"pgpass":                    "db.internal:5432:orders:app:«Wint3r-Kestrel!»\n*:*:*:me:«kestrel»",
		"pgpass, written":           "echo 'db:5432:shop:app:«pw1x»' >> ~/.pgpass",
		"putty":                     "Private-Lines: 2\n«AAABAQCkpZv0d2s6bKQ»\n«bZk3d0eWb1dJxQ==»\nPrivate-MAC: 0a1b2c3d",
		"putty in json":             `{"t": "Private-Lines: 2\r\n«AAABAQCkpZv0d2s6bKQ»\r\n«bZk3d0eWb1dJxQ==»\r\nPrivate-MAC: 0a"}`,
		"putty, listed":             "   9→Private-Lines: 2\n  10→«AAABAQCkpZv0d2s6bKQ»\n  11→«bZk3d0eWb1dJxQ==»\n  12→end",
		"docker login, stdin":       "echo «hunter22» | docker login -u me --password-stdin",
		"docker login, quoted":      "printf '%s' '«kestrel nine»' | docker login --password-stdin reg.test",
		"docker login, attached":    "podman login -u me -p«kestrelnine» reg.test",
		"github login":              "echo \"«kestrel9»\" | gh auth login --with-token",
		"sudo":                      "echo «kestrel9» | sudo -S apt update",
		"chpasswd":                  "echo '«root:kestrelnine»' | sudo chpasswd",
		"net use":                   `net use Z: \\server\share /user:corp\me «Kestrel9»`,
		"net use, first":            `NET USE z: \\srv\x «Kestrel9» /USER:bob /persistent:yes`,
		"net user":                  "net user bob «Kestrel9» /add",
		"mysql, quoted":             "mysql -uroot -p'«ke strel»' app",
		"curl, attached":            "curl -ume:«kestrel» https://x.test",
		"curl, several":             "curl -sSu 'me:«kes trel»' https://x.test",
		"curl, cookie":              "curl -b '«sid=kestrelnine»' https://x.test",
		"httpie":                    "http -a me:«kestrel» https://x.test",
		"wget":                      "wget --user me --password «kestrel» https://x.test",
		"sshpass, attached":         "sshpass -p«kestrel» ssh x",
		"netrc, letters":            "machine h login u password «kestrel»",
		"netrc, lines":              "machine h\nlogin u\npassword «kestrel»\n",
		"quoted for a shell":        `bash -lc 'mysql -u root -p'\''«ke strel»'\'' app && export A_TOKEN=«'\''x y'\''» B=1'`,
		"network manager":           "nmcli dev wifi connect home password «kestrel»",
		"kubectl literal":           "kubectl create secret generic s --from-literal=user=«meme» --from-literal='pw=«kes trel»'",
		"openssl":                   "openssl rsa -in k -passin pass:«kestrel»",
		"openssl, key":              "openssl enc -aes-256-cbc -k «kestrel» -in a",
		"gpg":                       "gpg --batch --passphrase '«kes trel»' -c f",
		"zip":                       "zip -P «kestrel» a.zip f",
		"7z":                        "7z x a.7z -p«kestrel»",
		"keytool":                   "keytool -list -storepass «kestrelnine» -keypass «kestreltwo»",
		"htpasswd":                  "htpasswd -bc .htpasswd me «kestrelnine»",
		"ldap":                      "ldapsearch -x -D cn=a -w «kestrelnine» -b dc=x",
		"samba":                     "smbclient //h/s -U 'me%«kestrelnine»'",
		"mongosh":                   "mongosh -u me -p «kestrelnine» h",
		"lftp":                      "lftp -u me,«kestrelnine» ftp://h",
		"rabbitmq":                  "rabbitmqctl add_user me «kestrelnine»",
		"wifi":                      "wpa_passphrase home «kestrelnine»",
		"oracle":                    "sqlplus scott/«tiger»@orcl",
		"oracle, jdbc":              "jdbc:oracle:thin:scott/«tiger»@//h:1521/x",
		"secrets set":               "fly secrets set DB_URL=«kestrelnine» B=«kestreltwo»",
		"vault put":                 "vault kv put secret/x key=«kestrelnine»",
		"config set":                "npm config set //r/:_authToken «kestrelnine»",
		"secret body":               "gh secret set MY_KEY --body «kestrelnine»",
		"secrets manager":           "aws secretsmanager create-secret --name x --secret-string «kestrelnine»",
		"parameter store":           "aws ssm put-parameter --type SecureString --name x --value «kestrelnine»",
		"cmdkey":                    "cmdkey /add:h /user:me /pass:«kestrelnine»",
		"powershell":                `ConvertTo-SecureString "«kestrelnine»" -AsPlainText -Force`,
		"docker file":               "ENV DB_PASSWORD «kestrel»",
		"request of amazon":         "Authorization: «AWS4-HMAC-SHA256 Credential=A/20200101/us/s3, Signature=abcdef0123456789»",
		"url, unescaped":            "mysql://root:«p#ss/w@rd»@h/db",
		"connection, jdbc":          "jdbc:sqlserver://h;user=sa;password=«kes trel»;encrypt=true",
		"connection, odbc":          "Driver={ODBC Driver 17};Server=h;Uid=sa;Pwd=«kes trel!»;",
		"unix hash":                 "root:«$6$saltsalt$kestrelkestrelkestrelkestrel»:19000:0:99999:7:::",
		"bcrypt":                    "me:«$2y$10$abcdefghijklmnopqrstuuKestrelKestrelKestrelKestrelKestr»",
		"private key without block": "signed with «MC4CAQAwBQYDK2VwBCIEIKestrelKestrelKestrelKestrelKestrel» there",
	}
}

// code is what stands in programs, in documents and in sentences.
func code() map[string]string {
	return map[string]string{
		"sql":                  "CREATE USER app WITH PASSWORD '«kestrel»';",
		"sql, identified":      "ALTER USER app IDENTIFIED BY '«kestrel»';",
		"sql, set":             "SET PASSWORD FOR 'a' = '«kestrel»';",
		"setenv":               `os.Setenv("API_KEY", "«kestrelnine»")`,
		"define":               "define('DB_PASSWORD', '«kestrel»');",
		"macro":                `#define WIFI_PASSWORD "«kestrelnine»"`,
		"set a password":       `client.setPassword("«kestrel»")`,
		"login in code":        `get(u, auth=("me", "«kestrelnine9»"))`,
		"login, a class":       `get(u, auth=HTTPBasicAuth("me", "«kestrelnine9»"))`,
		"name and value":       `{"name": "API_KEY", "value": "«kestrelnine»"}`,
		"name and value, yaml": "- name: DB_PASSWORD\n  value: «kestrelnine»\n",
		"element with a name":  `<string name="api_key">«kestrelnine1»</string>`,
		"below":                "password:\n  «kestrelnine9»\n",
		"below, a block":       "token: |\n  «kestrelnine»\n",
		"web key":              `{"kty":"OKP","crv":"Ed25519","d":"«nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A»","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		"row of a table":       "| password | «kestrelnine9» |",
		"credentials said":     "the credentials are admin:«Kestrel9x», use them",
		"for":                  "Password for the database: «kestrelnine9»",
		"pin":                  "my PIN is «483920».",
		"seed phrase":          "seed phrase: «abandon ability able about above absent absorb abstract absurd abuse access accident»",
		"german":               "mein Passwort ist «Kestrel9x», das alte",
		"french":               "mot de passe : «Kestrel9x»",
		"spanish":              "contraseña: «Kestrel9x»",
		"russian":              "пароль: «Kestrel9x»",
		"chinese":              "密码: «Kestrel9x»",
		"key of a service":     "export STRIPE_KEY=«rk9dkKDk39dkfkdDK3kdK3»",
		"pat":                  "GH_PAT=«kestrelnine99»",
	}
}

// Plain returns a planted text without its marks, and the secrets that stood between them.
func Plain(marked string) (text string, secrets []string) {
	for rest := marked; ; {
		before, after, found := strings.Cut(rest, "«")
		text += before
		if !found {
			return text, secrets
		}
		secret, tail, _ := strings.Cut(after, "»")
		text, rest, secrets = text+secret, tail, append(secrets, secret)
	}
}
