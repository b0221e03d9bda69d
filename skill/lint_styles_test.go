package skill

import (
	"fmt"
	"strings"
	"testing"
)

// frames are styles in which skills show a line: %s is it.
var frames = []string{
	"Set it up:\n\n```sh\n%s\n```\n", "1. First\n2. Then `%s`\n", "| step | what |\n|---|---|\n| 1 | %s |\n", "> Note: %s\n", "<details>\n<summary>How</summary>\n\n    %s\n\n</details>\n",
}

// shown are lines of skills about secrets that hold none.
var shown = []string{
	"export SHOP_API_KEY=your_api_key_here", `curl -H "x-api-key: $SHOP_API_KEY" https://api.shop.test/v1/orders`, "password: process.env.DB_PASSWORD", "did_pass = rate >= 0.5",
	`curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://x.test`, "client = Shop(api_key=os.environ['SHOP_KEY'])", "DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/NAME",
	"token: the one that the login call returned", "Authorization: only the owner may do this", "const secret = await vault.read('shop/key')", "api_key = config.get('api_key') or getpass('API key: ')",
	"GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}", "<label>Password: <input type='password' name='password'></label>", "if (token !== expected) throw new Error('bad token')", "stripe listen --api-key sk_test_xxxxxxxxxxxx",
	"aws configure set aws_secret_access_key <your-secret-key>", "sk-ant-... is how keys of the vendor begin", "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "kubectl create secret generic shop --from-literal=password=$PASSWORD",
	"password = models.CharField(max_length=128)",
}

// A hundred skills in as many styles hold no secret, and none is reported.
func TestSkillsWithoutSecretsHaveNone(t *testing.T) {
	t.Parallel()
	n := 0
	for i, line := range shown {
		for j, frame := range frames {
			n++
			text := fmt.Sprintf("---\nname: good-one\ndescription: Style %d.\n---\n# Keys and tokens\n\n", n) + fmt.Sprintf(frame, line) + "\nThen:\n\n" + fmt.Sprintf(frames[(j+1)%len(frames)], shown[(i+7)%len(shown)])
			s := New(text).WithFile("references/more.md", fmt.Sprintf(frames[(j+2)%len(frames)], shown[(i+3)%len(shown)])).WithFile("scripts/run.py", strings.ReplaceAll(line, "`", "'")+"\n")
			for _, f := range Lint(s, "good-one") {
				if f.Rule == RuleSecret {
					t.Errorf("%s:%d of\n%s\n%s", f.File, f.Line, text, f.Message)
				}
			}
		}
	}
	if n != 100 {
		t.Errorf("%d skills", n)
	}
}
