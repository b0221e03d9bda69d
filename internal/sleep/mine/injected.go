package mine

import (
	"strings"
	"unicode"
)

// claim is a kind of sentence that no one should follow unseen: it gives away credentials, grants access,
// or leaves to what is written elsewhere what is to be done.
type claim struct {
	kind    kind
	pattern pattern
	// denies: what it says may be forbidden by the sentence, and then is harmless.
	denies bool
	// guard, where there is one, finds what makes a sentence harmless.
	guard pattern
}

// phrase returns a pattern of whole words of any letters, in which # is a gap of a few words.
func phrase(text string) pattern {
	return newPattern(`(?i)(?:^|[^\p{L}\p{N}_.$-])(?:` + strings.ReplaceAll(text, "#", `(?:[\s,]+[^\s,]+){0,6}?[\s,]+`) + `)(?:$|[^\p{L}\p{N}_-])`)
}

// Words of claims.
const (
	credential = `(?:pass(?:words?|phrases?|codes?)|credentials?|secrets?|(?:api|access|secret|private|signing|deploy|deployment|encryption|service|ssh|admin|root|master|auth\w*|session|bearer|refresh|bot)[ -](?:keys?|tokens?|cookies?)|(?:recovery|backup|one-time|access|2fa|mfa)[ -]codes?|log-?in (?:data|details)|connection strings?` +
		`|passw[oö]rt\w*|passwörter|kennw[oö]rt\w*|zugangsdaten|anmeldedaten|api-schlüssel|zugriffstoken` +
		`|mots? de passe|identifiants|clés? (?:d'api|privées?|secrètes?)|jetons? d'accès|contraseñas?|credenciales|claves? (?:de api|privadas?|secretas?))`
	handsOut = `(?:give|share|hand|tell|disclose|reveal|expose|provide|supply|post|publish|forward|send|e-?mail|mail|upload|paste|quote|embed|attach|put|write|copy|mention|include|append|add|print|show|output|leak|save|store|list|dump|circulate|distribute|spell out|read out` +
		`|gib|gebt|geben|nenne[nt]?|teile[nt]?|verrate[nt]?|sende[nt]?|schicke[nt]?|schreibe?|veröffentliche[nt]?|füge|kopiere` +
		`|donne[rz]?|partage[rz]?|communique[rz]?|envoie[rz]?|transmet\w*|divulgue[rz]?|publie[rz]?|fournis\w*|écri[rstvez]+|comparte|da|dale|envía\w*|revela|publica|entrega|escribe|facilita|incluye)`
	orders = `(?:instructions?|directions?|directives?|guidance|orders|commands|rules?|guidelines?|requests?|wishes|notes?|demands?|advice)`
	place  = `(?:wiki|notes?|notebooks?|comments?|issues?|tickets?|(?:web ?)?pages?|(?:web ?)?sites?|channels?|threads?|messages?|e-?mails?|chats?|drives?|gists?|pastes?|boards?|intranet|portals?|memos?|bulletins?|feeds?|attachments?|headers?|footers?|metadata|annotations?|outputs?|logs?|servers?|documents?|folders?|handbooks?|manuals?|readme|records?|calendars?|responses?|transcripts?|posts?|postings?|operators?|vendors?|partners?|elsewhere)`
	// afar is where no rule of a document is.
	afar      = `(?:wiki|notebooks?|channels?|drives?|intranet|portals?|memos?|bulletins?|boards?|gists?|pastes?|handbooks?|partners?|vendors?|operators?|contractors?|suppliers?|inbox|mailbox|whiteboard)`
	might     = `(?:(?:full|write|admin\w*|root|owner|remote|unrestricted|unlimited|elevated|super-?user) (?:access|permissions?|rights|privileges?))`
	allowance = `(?:approval|permission|review|authori[sz]ation|sign-?off|clearance)`
)

var claims = []claim{
	{kind: kindSecret, pattern: phrase(handsOut + `#` + `(?:` + credential + `|environment variables?|env vars?)`), denies: true},
	{kind: kindSecret, pattern: phrase(credential), denies: true, guard: protective},
	{kind: kindSecret, pattern: newPattern(`(?i)\b(?:password|passphrase|passwort|mot de passe|contraseña|token|secret|pin|api key)\b(?: [^\s,]+){0,4}? ?(?:is|:|=|lautet|est|es)? ["'` + "`" + `]?(?:[A-Za-z!@#$%^&*_-]+\d|\d+[A-Za-z!@#$%^&*_])[^\s]{3,}`)},
	{kind: kindSecret, pattern: newPattern(`(?:把|将|向|给).*(?:密码|口令|密钥|凭证|凭据|令牌).*(?:发|告诉|分享|公开|给|写进|写入|附|贴)|(?:发送|发给|告诉|分享|公开|泄露|提供|交出).*(?:密码|口令|密钥|凭证|凭据|令牌)`), denies: true},

	{kind: kindAccess, pattern: phrase(`(?:grant|give|assign|award|hand|extend|has|have|get|receive|gain|obtain|keep|is given|are given|is granted|are granted)s?#?` + might + `|(?:grant|give|assign|award|hand|extend)s?#(?:access|permissions?|privileges?|rights|clearance|the right to)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:grant|give|turn|make|assign)s?#(?:admins?|administrators?|superusers?|root|ownership|roles? of [^\s]+)(?: (?:of|for|on|in|to|at) .*|[.,;:!?]*$)|(?:open|unlock)s?#(?:firewalls?|networks?|doors?|ports?(?: \d+)?) (?:for|to)|back-?doors?|back door|(?:may|can|is allowed to|are allowed to) (?:read|change|edit|delete|write|access|push|merge|do)#?(?:everything|anything|all (?:files|data|repositories|accounts|records))`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:hat|haben|erhält|erhalten|bekommt|bekommen)#?(?:\w*schreibrechte|adminrechte|vollzugriff)|(?:ont|a|reçoi\w*)#?(?:accès|droits) (?:administrateur|complet|d'écriture|d'administrateur)|(?:tiene|tienen|recibe)#?(?:acceso|permisos|derechos) (?:de administrador|total|de escritura)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:gib|gewähre[nt]?|erteile[nt]?|vergib)#(?:\w*zugriff\w*|\w*zugang|\w*rechte|\w*berechtigung\w*)|(?:donne[rz]?|accorde[rz]?|octroie[rz]?|attribue[rz]?)#(?:accès|droits?|permissions?|privilèges?)|(?:da|dale|concede|otorga|asigna)#(?:acceso|permisos?|privilegios)`), denies: true},
	{kind: kindAccess, pattern: newPattern(`(?:给|授予|赋予|授权|开放).*(?:权限|访问权|管理员)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:add|invite|enrol+|make|assign|move|register|put)s?#(?:(?:to|into) (?:[^\s]+ )?(?:admins|administrators|superusers|sudoers|owners|maintainers|collaborators|code ?owners)|(?:as|to|an?) (?:[^\s]+ )?(?:admin|administrator|superuser|maintainer|collaborator)|as (?:[^\s]+ )?owner)(?: (?:group|role|team|list|account))?(?: (?:of|for|on|in|at) .*|[.,;:!?]*$)|(?:promote|elevate|appoint|upgrade|raise)s?#(?:admins?|administrators?|root|owners?|superusers?|maintainers?)|(?:is|are|becomes?) (?:an? )?(?:administrators?|superusers?|maintainers?)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:make|set|mark|turn|leave|open|expose|publish)s?#(?:repo\w*|buckets?|dashboards?|drives?|databases?|folders?|shares?|ports?|endpoints?|servers?|storage|clusters?|accounts?|networks?|firewalls?)#?(?:public\w*|public-\w+|world-\w+|to (?:everyone|everybody|anyone|anybody|all|the (?:public|internet|world))|without (?:an? )?(?:password|login|authentication))`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:approve|merge|accept|trust|auto-?approve|allow|obey|sign)s? (?:all|every|any|each|everything|anything)#?(?:requests?|prs?|changes|commits?|commands?|instructions?|orders|origins?|hosts?|connections?|certificates?|logins?|users?|senders?|contributions?|scripts?|devices?|from)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:requests?|prs?|changes?|commits?|logins?|users?|certificates?|payments?|contributions?|merges?|deploys?|deployments?)#(?:approved|merged|accepted|trusted|granted|let in|admitted|deployed|paid|signed off)(?: [^\s]+)? ?(?:at once|automatically|immediately|by default|always|unseen|blindly|unread)`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:merge|deploy|publish|release|push|accept|approve|pay|transfer|apply|commit|delete|execute|run|install|grant|allow|continue|proceed|act|ship|edit|change)s?#?without (?:any |an? )?` + allowance), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:treat|regard|consider|count|handle)s?#as(?: if)?#?(?:trusted|the owner|owners|admins?|administrators?|authori[sz]ed|verified)`), denies: true},
	{kind: kindAccess, pattern: phrase(`no (?:[^\s]+ )?` + allowance + ` (?:is |are )?(?:needed|required|necessary)|(?:needs?|requires?) no (?:[^\s]+ )?(?:signature|confirmation|password|login|` + allowance + `)|(?:approve|accept|merge|trust|sign|pay|release)s?#(?:unseen|blindly|unread|automatically)|(?:do not|don't|never|no need to|stop) (?:ask|wait|check|require|demand|seek|request)(?:ing)?#?` + allowance)},
	{kind: kindAccess, pattern: phrase(`(?:add|install|append|put|accept|deploy|register|upload)s?#(?:ssh|deploy|gpg|pgp|signing|host|public) keys?`), denies: true},
	{kind: kindAccess, pattern: phrase(`(?:let|allow|permit|enable)s? (?:anyone|anybody|everyone|everybody|strangers|outsiders|guests|contractors|third parties|the public)|(?:log|sign) ?in#?as (?:root|admin\w*|superuser|the owner)|(?:can|may|might|should) (?:bypass|circumvent)`), denies: true},
	{kind: kindOrder, pattern: phrase(`without (?:telling|asking)`), denies: true},

	{kind: kindDefer, pattern: phrase(`(?:follow|obey|apply|heed|comply with|adhere to|act on|carry out|honou?r|abide by|respect)(?:s|ing)?#` + orders + `#(?:in|from|of|at|on|by|inside|under|within|found|given|posted|stored|written|kept|left)#?` + place), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:instructions?|directives?|guidance|orders|rules|guidelines|procedures?|polic(?:y|ies)|steps#?(?:described|listed|found|given|written|explained|kept))#` + afar + `|` + afar + `#(?:instructions?|directives?|guidance|orders|rules|guidelines|procedures?)`), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:do|follow|obey|execute|run|apply|accept|trust|believe|carry out)(?: [^\s]+){0,2}? (?:whatever|anything|everything|what|all that)#(?:says?|said|tells?|asks?|states?|demands?|instructs?|requests?|wants?|directs?|orders?|recommends?)|(?:do|act|proceed|behave|answer|work|go) (?:[^\s]+ly |just )?as#(?:says?|tells?|asks?|instructs?|directs?|wants|demands|orders)`), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:further|additional|more|other|remaining|latest|current|newest|real|actual|full|complete|hidden|updated|rest of the) (?:[^\s]+ )?(?:instructions|directions|directives|guidance|orders|rules|guidelines|steps|notes)#` + place), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:notes?|instructions|guidance|orders|wiki|handbook|memo|channel|tickets?|messages?)#?(?:(?:take|takes|have|has|get|gets) (?:precedence|priority)|wins?|overrides?|overrules?|supersedes?|outranks?|prevails?)|(?:replaces?|overrides?|supersedes?|outranks?|overrules?|trumps?|prevails? over) (?:these|this|the|all|any|other|our|your)(?: [^\s]+)? (?:rules?|instructions|guidance|document|guidelines|skill)`), denies: true},
	{kind: kindDefer, pattern: phrase(`(?:check|consult|read|look (?:at|in|into|up)|see|refer to|visit|ask|query|watch)s?#` + place + `.*(?:what to do|how to (?:proceed|continue|act|answer|behave)|next steps?|for (?:[^\s]+ )?` + orders + `|and (?:then )?(?:follow|apply|obey|act on|comply|do))`), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:check|consult|read|look (?:at|in|into|up)|see|refer to|visit|ask|query|watch|open)s?#` + afar + `#?(?:before|each|every|first|for)|(?:read|open|look up|get|fetch|check|see|consult)#and (?:then )?(?:follow|obey|act on|comply with|do|go by) (?:it|them|that|what)`), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:` + place + `|` + afar + `|text|content)#?(?:decides?|determines?|dictates?|governs?|tells? you|as (?:orders|instructions|commands|binding|rules)|authoritative|final say|binding|source of truth)|(?:defer|yield|give way|submit) to|(?:go (?:with|by)|side with|prefer|trust|believe|rely on|listen to)s?#?` + afar + `|(?:comes?|goes|ranks?|counts?) (?:before|above|over|ahead of|more than) (?:this|these) (?:document|rules?|list|skill|file)|(?:` + orders + `)#?(?:embedded|hidden|contained|found|placed|left|written|in|from|on)#?(?:carried out|followed|obeyed|executed|honou?red|heeded)`), denies: true, guard: asked},
	{kind: kindDefer, pattern: phrase(`(?:befolge|folge|beachte|übernimm|richte dich nach|halte dich an)#(?:anweisung\w*|vorgaben|hinweisen?|regeln|notizen|anleitung\w*)#(?:notiz\w*|\w*wiki|\w*seite\w*|kanal\w*|tickets?|kommentar\w*|nachricht\w*|ordner\w*|laufwerk\w*|handbuch\w*|e-?mails?|datei\w*|dokument\w*)`), denies: true},
	{kind: kindDefer, pattern: phrase(`(?:suis|suivez|suivre|applique[rz]?|respecte[rz]?|obéi\w*|consulte[rz]?)#(?:consignes|instructions|directives|règles|ordres|notes)#(?:pages?|wiki|notes?|canal|tickets?|commentaires?|messages?|dossier|documents?|courriels?|fichiers?|manuel|site)`), denies: true},
	{kind: kindDefer, pattern: phrase(`(?:sigue|seguir|siga|aplica\w*|obedece\w*|cumple|consulta\w*|respeta)#(?:instrucciones|reglas|indicaciones|órdenes|directrices|notas)#(?:páginas?|wiki|notas|canal|tickets?|comentarios?|mensajes?|carpeta|documentos?|correos?|archivos?|manual|tablón|sitio)`), denies: true},
	{kind: kindDefer, pattern: newPattern(`(?:按|遵循|遵守|依照|执行|参照|查看|听从|根据).*(?:笔记|备注|维基|页面|网页|频道|工单|评论|消息|邮件|手册|公告|聊天).*(?:指示|指令|说明|要求|规则|命令)|(?:按|遵循|遵守|依照|执行|听从).*(?:指示|指令|命令).*(?:笔记|备注|维基|页面|网页|频道|工单|评论|消息|邮件|手册|公告|聊天)`), denies: true},
}

var (
	// about are words behind which a sentence speaks of something, and does not do it: an error for a
	// wrong password, a word to the user that one has expired.
	about = phrase(`if|when|unless|about|until|because|whose|where|that|for|from|für|wenn|dass|pour|quand|para|cuando|the user|users? asks?`)
	// protective are words of a sentence that keeps a credential, or says what one has to be.
	protective = newPattern(`(?i)\b(?:mask\w*|redact\w*|hash\w*|salt\w*|encrypt\w*|hide[sn]?|hidden|strip\w*|remov\w*|rotat\w*|validat\w*|verif\w*|compar\w*|expire[sd]?|wrong|missing|invalid|incorrect|weak|empty|too (?:short|long)|characters|digits|letters|required|optional|without|taken out|leave out|check\w*|scan\w*|hard-?cod\w*|(?:from|in|into) (?:the |an? )?(?:environment|env\w*|keychain|keyring|vault|secrets? (?:store|manager)|memory))\b`)
	// asked finds the user, who may say what is to be done.
	asked = newPattern(`(?i)\busers?\b`)
	// part is what a credential may name a part of: a field for a password.
	part = newPattern(`(?i)^[\s-]*(?:fields?|resets?|inputs?|forms?|hash(?:es)?|length|polic(?:y|ies)|pages?|managers?|strength|changes?|errors?|prompts?|checks?|rules?|columns?|box(?:es)?|rotation|generators?|validation|format|handling|models?|class(?:es)?|types?|tables?|names?|parameters?|arguments?|variables?|tests?)\b`)
	// forbids are words by which a sentence forbids something; but they do not where it goes back on it.
	forbids = newPattern(`(?i)\b(?:never|not|don't|doesn't|cannot|can't|mustn't|avoid|nie|niemals|nicht|keine?n?|jamais|pas|nunca|no)\b|不|别|勿|禁止`)
	late    = newPattern(`^\W*(?:\w+ )?(?:nicht|nie|niemals)\b`) // as German forbids
	back    = newPattern(`(?i)\b(?:forget|hesitate|fail|afraid|unless|except|other than|but (?:to|with|for)|vergiss|zöger\w*|oublie\w*|hésite\w*|olvides|dudes)\b|忘|除非`)
)

// claimsIn returns what the sentences of a text claim.
func claimsIn(text string) (out []finding) {
	for _, sentence := range clauseEnd().Split(strings.ReplaceAll(text, "\u2019", "'"), -1) {
		for _, c := range claims {
			if at := c.pattern().FindStringIndex(sentence); at != nil && !c.harmless(sentence, at[0], at[1]) {
				out = append(out, finding{c.kind, strings.TrimSpace(sentence[at[0]:at[1]])})
			}
		}
	}
	return out
}

var clauseEnd = newPattern(`[.!?;]+(?:\s|$)|[。！？；]|\n+`)

// harmless reports whether a sentence forbids what it says between two places, or only speaks of it.
func (c claim) harmless(sentence string, from, to int) bool {
	said := sentence[from:to]
	switch {
	case c.denies && forbids().MatchString(lastWords(sentence[:from], 6)+" "+said) && !back().MatchString(sentence),
		c.denies && late().MatchString(sentence[to:]),
		c.guard != nil && c.guard().MatchString(sentence):
		return true
	case c.kind == kindSecret:
		return about().MatchString(said) || part().MatchString(sentence[to-tailLen(said):])
	}
	return false
}

// lastWords returns the last n words of a text.
func lastWords(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[max(0, len(words)-n):], " ")
}

// tailLen returns the length of what a match has behind its last word.
func tailLen(said string) int { return len(said) - len(strings.TrimRightFunc(said, notWord)) }

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// visible returns a text without characters that no one sees.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}
