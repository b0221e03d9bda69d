package redact

import "github.com/seed-f4525e22/skillopt/internal/pattern"

// The forms of what is around secrets, of values that are none, and of keys in several parts.
var (
	// references say where a secret is: variables, options and files, and what is in angle brackets.
	references = pattern.New(`\A(?:\$\w+|(?:[^{}\s]{0,4}\$?\{[\w.\[\]"'():-]*\}?)+|\$[({][^\n]*|\{\{[^\n]*|\$env:\w+|%(?:[sdqv]|\w+%|\(\w+\)s)|[#@]\{[^\n]*|@/[^\n]*|<[^\n]*|-{1,2}[A-Za-z-]*|\s[^\n]*|!(?:secret|vault|env|ref|include|sub)\b[^\n]*` +
		`|(?:[A-Za-z_]\w*(?:\.|::))*(?:env|environ|ENV|Env|getenv|Getenv|secrets|vars)(?:[.\[(]|::)[^\n]*)\z`)
	// fillings are what people write where others fill in a secret of their own.
	fillings = pattern.New(`(?i)\A(?:your[_ .-]?[\w ._-]*|(?:insert|enter|put|add|paste|replace)[_ -](?:your|with|the|real|actual|this|me)\b[\w ._-]*|replace[_-]?me|change[_-]?(?:me|it|this)[\w!-]*` +
		`|my[_-]?(?:(?:api|secret|access|auth|private)[_-]?)*(?:key|token|password|secret)|[\w.-]+[_-](?:here|placeholder)|\w{0,12}[_-]?x{4,}[\w-]*|[a-z]{2,6}[_-](?:[a-z0-9]+[_-])*(?:your|x{3,})[\w-]*|[\w-]{0,40}(?:\.{3}|…)|x{3,}|[*•…#]{2,}|\.{3,}|_{3,}` +
		`|todo|tbd|fixme|placeholder|redacted|example|sample|dummy|masked|omitted|hidden|n/a)\z`)
	exampleBody = pattern.New(`your|[-_]here\z|xxx\z|\A[x_0-9-]*xxxxxx[x_0-9-]*\z`)
	wordForm    = pattern.New(`\A[A-Za-z]{0,15}[.,:]*\z`)
	// what follows an operand in a program
	operated = pattern.New(`\A[ \t]+(?:[<>=!]=|[<>+*/%]|&&|\|\||\?|and|or|if|is|in|as|not)[ \t]`)
	// the beginning of a sentence: two words, or one and an article
	english   = pattern.New(`\A(?:(?:[A-Za-z][a-z]*|[A-Z]{2,5}|(?:[A-Z][a-z]+){2,3})(?:['’-][a-z]+)?[,;:.]?(?: +(?:[a-z]+['’]?[a-z]*|[A-Z]{2,5}|[(\x60"“])))`)
	dotted    = pattern.New(`\A[A-Za-z_]+(?:\.[A-Za-z_]+)+\z`) // a path of names: settings.api_key
	subscript = pattern.New(`\A[A-Za-z_.]+\[["'A-Za-z_]`)      // of a program: creds['token']
	hexForm   = pattern.New(`(?:key|auth|pass|session|credentials?|salt)=(?:0x)?[0-9a-fA-F]{64}\z`)
	openName  = pattern.New(`public|cache|primary`)
	// a variable such as STRIPE_KEY
	keyVariable = pattern.New(`\A(?:[A-Z_][A-Z0-9_-]*)?_KEY\z`)
	longLine    = pattern.New(`[A-Za-z0-9+/]{40}`) // of a private key
	// madeUpForm and countingForm are in keys, exampleForm is in values, that documents make up.
	madeUpForm   = pattern.New(`(?i)example|your|placeholder|dummy|sample|changeme|replace|xxxxx|here$|fake|redacted`)
	countingForm = pattern.New(`(?i)123456|abcdef|abc123`)
	vowels       = pattern.New(`[aeiouAEIOU]`)
	lowerWords   = pattern.New(`[A-Za-z]?[a-z]{2,}`)
	exampleForm  = pattern.New(`(?i)example|your|dummy|sample|placeholder|changeme|replace|secret|password|token|xxx|\.\.\.|1234567|abcdefg|abc123|foo|test|here|fake|demo|000000|redacted|deadbeef`)
	// separator is what may be between a name and its value, as its last group; <- is of R.
	separator = pattern.New(`\A(?:(=+>?|:=|＝|：|%3[adAD])|(<-) ?(?:["'\x60\\&])|(:)(?:[^:/=]|/(?:[^/]|\z)|\z))`)
	// hashForm is the hash of a password.
	hashForm = pattern.New(`\A\$(?:[156y]\$|2[aby]\$|argon2|scrypt\$|pbkdf2)[\w.+/=~$,-]{23,}`)
	// hostForm is a host, with what is before it.
	hostForm = pattern.New(`\A[^/?#"'<>\\\x60\x00-\x20]*`)
	// unescapedForm is a password whose signs end a host, up to its @.
	unescapedForm = pattern.New("\\A[^:@/?#\\s\"'<>\\\\`\\[]+:(\\d*[^\\d/?#\\s\"'<>\\\\`][^\\s\"'<>\\\\`]*[/?#][^\\s\"'<>\\\\`]*)@")
	caseChange    = pattern.New(`[a-z][A-Z]`)
	// wrap is between the parts of a key that is broken over two lines: an end of a line and a margin.
	wrap = pattern.New(`\A(?:\\?\r?\n|(?:\\r)?\\n)[ \t]*(?:[+>|][ \t]+)?`)
	// partedKeys are known by their parts: of bots of Telegram and Discord, of Terraform, of Airtable.
	partedKeys = pattern.New(`\A(?:(?:bot)?\d{8,11}:[\w-]{33,}|\w{14}\.atlasv1\.[\w-]+|pat\w{14}\.[0-9a-f]{32,}|[\w-]{23,28}\.[\w-]{6}\.[\w-]{26,})`)
	// quoteForm is a quote: with backslashes in JSON within JSON, an entity in HTML, '\'' in a shell.
	quoteForm = pattern.New("\\A(?:'\\\\+''|\\\\*[\"`']|\\\\+u0022|&(?:quot|#34|#39|#x27|apos);)")
	// blockForm says that the value of a name is below it.
	blockForm = pattern.New(`\A[|>][-+]?[ \t]*(?:\z|[\x00-\x1f\\"])`)
	// bracedForm is {value}, in which }} represents one brace; without an end up to what ends a text.
	bracedForm = pattern.New(`\A\{(?:[^}"\\\n]|\}\}|"\w|\\[^"nr\\])*`)
	// dirForm is PWD as the working directory, and no password, as strings of connections have it.
	dirForm = pattern.New(`(?:\A|[^;])»PWD»|»[^»]*[a-z_.-][^»]*»(?:[/~]|"/)`)
	// schemeForm is the scheme of a header before a secret.
	schemeForm = pattern.New(`\A(?i:bearer|basic|token|digest|negotiate|apikey|bot|key)[ \t]+`)
	// a private key in PEM, without an end up to the quote that ends a text in JSON, or the end of all
	block = pattern.New(`(` + blockBegin + `[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----)[^"]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----|\\*"|\z)`)
	// what is before a key of PuTTY: how many lines of base64 follow
	keyCount = pattern.New(`Private-Lines: (\d{1,3})(?:\r?\n|(?:\\+r)?\\+n)`)
	// a line of a key, behind what a listing has before it: a number, the sign of a difference
	keyLine = pattern.New(`\A[ \t]*(?:\d+(?:→|\t|: |\| ))?[ \t]*[+>|-]?[ \t]*([A-Za-z0-9+/=]+|\[redacted\])(?:\r?\n|(?:\\+r)?\\+n|\z|\\*")`)
	// keyForm is "API key" or the like, with the sign » before its second word.
	keyForm = pattern.New(`(?i)(?:api|access|secret|private|account|license|encryption) *»key\z`)
	// commandForm is what follows the value of an option: nothing, another option, or no word.
	commandForm = pattern.New(`\A[ \t]*(?:\z|[\r\n\\|;&'"\x60-]|[^ ]*[/:=@])`)
)
