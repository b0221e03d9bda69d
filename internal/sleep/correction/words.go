package correction

import (
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// plain returns a text in lower case, in which each word, and each mark that ends a part, is
// between blanks. A language without blanks stays as it is.
func plain(text string) string {
	marks := strings.NewReplacer("\u2019", "'", "？", "?", "！", "!", "。", ".", "，", ",", "、", ",", "；", ".", "：", ",", "…", "...", ";", ".", ":", ",", "\n", ".")
	list := []rune(marks.Replace(strings.ToLower(text)))
	var out strings.Builder
	for i, r := range list {
		within := i > 0 && i+1 < len(list) && word(list[i-1]) && word(list[i+1])
		switch {
		case word(r) || within && strings.ContainsRune(".'/", r) || r == '/' && i == 0:
			out.WriteRune(r)
		case strings.ContainsRune(".,!?", r):
			out.WriteString(" " + string(r) + " ")
		default:
			out.WriteByte(' ')
		}
	}
	return " " + strings.Join(strings.Fields(out.String()), " ") + " "
}

func word(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("-_#<>%", r)
}

// words finds phrases in a plain text, in languages with blanks between words and in others.
type words struct {
	single              map[string]bool
	spaced, begun, bare pattern.Pattern
}

// phrases takes those of languages without blanks, then of others. There _ is a word, and … are some.
func phrases(bare string, spaced ...string) words {
	w := words{single: map[string]bool{}, bare: pattern.New(bare)}
	var longer []string
	for _, text := range spaced {
		list := strings.TrimSuffix(strings.TrimPrefix(text, "(?:"), ")")
		if strings.ContainsAny(list, " ?*+.()[]\\_…^$") {
			longer = append(longer, strings.NewReplacer("_", `[^\s.,?!]+`, "…", `(?:[^\s.?!]+ ){0,4}?`).Replace(text))
			continue
		}
		for one := range strings.SplitSeq(list, "|") {
			w.single[one] = true // to look a word up costs less than to look for it
		}
	}
	all := ` (?:` + strings.Join(longer, "|") + `) `
	w.spaced, w.begun = pattern.New(all), pattern.New("^"+all)
	return w
}

// in reports whether a text has one of the phrases.
func (w words) in(text string) bool {
	for one := range strings.FieldsSeq(text) {
		if w.single[one] {
			return true
		}
	}
	return w.spaced.MatchString(text) || hasBare(text) && w.bare.MatchString(text)
}

// first reports whether a text begins with one of the phrases.
func (w words) first(text string) bool {
	one, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if w.single[one] || w.begun.MatchString(text) {
		return true
	}
	at := w.bare.FindStringIndex(strings.TrimSpace(text))
	return at != nil && at[0] == 0
}

// hasBare reports whether a text has words of a language without blanks.
func hasBare(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// What a user's words are like. Each list has English, German, French, Spanish; the first has languages
// without blanks. A phrase that no text can have is of a language in which there is none.
var (
	// deny are words with which one rejects at once.
	deny = phrases(`^(?:不对|不是|错|不行|违|違う|違います|ちがう|아니|틀렸)`,
		`no [,.!]`, `no`, `nope`, `wrong`, `incorrect`, `nah`, `nein`, `falsch`, `nee`, `non [,.!]`, `non`, `faux`, `incorrecto`, `errado`, `não`, `sbagliato`, `нет`, `неправильно`, `не так`)
	// undo are words with which one wants something as it was.
	undo = phrases(`改回|撤销|撤回|还原|恢复成|恢复原|退回去|回滚`,
		`undo (?:that|this|it|the|your)`, `revert`, `roll (?:that|this|it) back`, `(?:put|bring|change|move|add|set) (?:it|that|them|this|those|the _|my _) back`, `take (?:it|that|them|those|this) (?:out|back|away)`, `restore (?:it|that|them|my)`, `get rid of (?:it|that|those|them)`, `back to (?:how|what|the way)`,
		`rückgängig`, `(?:nimm|mach|bau|tu|setz|stell|hol)e? (?:das|es|die|den|sie) …(?:raus|zurück|weg|her)`, `wieder (?:zurück|raus|weg|rein|her)`, `(?:alte[ns]?|ursprüngliche[ns]?) …(?:behalten|lassen|wieder)`,
		`annule (?:ça|cela|tout)`, `(?:remets|remettez|remet|rends|rétablis|enlève|retire|vire)(?:-(?:le|la|les|moi|ça))?`, `reviens en arrière`, `(?:garde|laisse)\S* …(?:ancien\S*|comme (?:avant|c'était))`,
		`deshaz\S*`, `revierte\S*`, `vuelve a (?:poner|dejar)\S*`, `(?:deja|mantén)\S* …(?:anterior|como (?:estaba|antes)|original)`, `(?:devuélve|quíta|restaura|retira)\S+`)
	// blame are words of what the agent did or left out.
	blame = phrases(`谁(?:让|叫)你|我(?:可)?没(?:有)?(?:让|叫)你|不是让你|(?:你|您)(?:又|漏|忘|删|弄|搞|怎么|为什么|把.*(?:删|改|弄)|只(?:改|做|写|翻|处理|完成)|还没|没有?(?:按|照|改|加|写|做|处理|更新))|为什么(?:要|把|又|还)|怎么(?:又|还|把|没|会|都|全|只|变|是|跑|在|排到|出现|显示|多|少|这么[^快好棒])|你把.*了|因为你|漏(?:了|掉)|忘(?:了|记)|编造|自作主张`,
		`you (?:_ )?(?:forgot|missed|deleted|removed|broke|ignored|changed|left|dropped|skipped|overwrote|invented|made up|mixed|swapped|duplicated|misread|misunderstood|lost|only|never|just|didn't|did not|haven't|weren't|were not|were supposed|should have|should not|shouldn't|must not|again|messed|screwed|cut|rewrote|touched|hardcoded)`, `you (?:_ed|put|made|left|wrote|took|cut|gave) (?:_|,)`, `because you`,
		`(?:who|nobody|no one) (?:told|asked|said)`, `why (?:did|have|would|are) you`, `i (?:_ )?(?:never|didn't|did not) (?:ask|asked|say|said|want|wanted|tell|told|mean)`, `yours`, `it (?:broke|deleted|removed|ignored|lost|overwrote)`, `(?:that|this) (?:broke|deleted|removed|breaks|ignores)`,
		`du (?:hast|hattest) …(?:vergessen|gelöscht|entfernt|übersehen|ignoriert|weggelassen|erfunden|verwechselt|überschrieben|verändert|geändert|angefasst|kaputt\S*|zerschossen|verloren|vertauscht|rausgenommen|nur|nicht|auch|schon wieder|einfach)`, `hast du …(?:vergessen|gelöscht|entfernt|übersehen|ignoriert|weggelassen|nicht|erfunden|geändert|einfach)`, `du (?:ihn|sie|es|das|die|den|da|hier|dort) …(?:hast|hattest)`, `weil du`, `(?:warum|wieso|weshalb) (?:hast|machst|nimmst|änderst|löschst) du`, `wer hat …(?:gesagt|gebeten|verlangt)`, `du (?:solltest|sollst) (?:doch|nicht|nur|das)`,
		`(?:tu as|t'as|tu m'as|vous avez) …(?:oublié|supprimé|viré|enlevé|cassé|effacé|inventé|ignoré|raté|manqué|modifié|changé|écrasé|mélangé|laissé|perdu|sauté|inversé|confondu|seulement|encore|touché|aussi|même)`, `(?:parce que )?(?:tu l'as|tu les as|tu m'as|parce que tu)`, `pourquoi (?:tu as|as-tu|t'as|avoir|tu)`, `qui t'a`, `je (?:ne )?t'ai (?:jamais|pas)`, `je n'ai (?:jamais|pas) (?:demandé|dit|voulu)`, `tu (?:n'as|devais|n'avais)`, `il ne fallait pas`, `on t'a (?:dit|demandé)`,
		`(?:has|te has|habías) …(?:olvidado|borrado|eliminado|roto|inventado|cambiado|ignorado|perdido|saltado|dejado|quitado|tocado|mezclado|confundido|también|otra vez)`, `(?:te )?(?:olvidaste|borraste|eliminaste|rompiste|inventaste|cambiaste|quitaste|tocaste|ignoraste|faltó|faltaron|saltaste|dejaste|mezclaste|pusiste|confundiste|perdiste|cargaste|comiste)`, `(?:la|lo|las|los|me|te|le) _aste`, `por qué (?:has|_aste|_iste|lo|la|me)`, `quién te`, `(?:no te|nadie te|yo no|nunca te) (?:pedí|dije|he pedido|pidió|dijo)`, `no (?:has|hiciste|pusiste|tocaste)`)
	// expect are words of what was said, agreed or wanted before.
	expect = phrases(`我(?:要|说|想要|指|让你.*)的(?:是|明明)|我(?:之前|刚才|刚刚|早就|都|明明)?(?:说过|说了|讲过|要求)|说好|不是说|不是要|要的不是|应该|应当|明明|反了|相反|而不是|另一个|本来|(?:以前|原来)(?:是|有|能|可以|没)|之前(?:说|定|约)|约定|规定|要求的?是|按(?:我|照)|不符合|不符`,
		`actually (?:, )?(?:use|make|keep|call|put|write|no|it|the|that|i)`, `i (?:_ )?(?:said|asked|told you|meant|wanted|specified|requested|expected|mentioned)`, `, (?:and )?not _`, `(?:argh|huh)`, `(?:hm+|mm+|uh+|umm*|ugh+|erm+)`, `(?:as|like) (?:i|we) (?:said|asked|wanted|agreed)`, `(?:didn't|did|don't|haven't) (?:i|we) (?:not )?(?:say|ask|tell|agree|want|mention|said)`, `supposed to`, `should`, `should've`, `shouldn't`, `(?:we|i) (?:_ )?(?:agreed|talked|discussed|spoke)`, `not (?:that|this|those|the) _`, `the other (?:one|ones|way)`, `agreed on`, `we (?:don't|never|always|only) _`, `(?:not|isn't|wasn't|aren't|nothing like|far from) (?:_ )?(?:what|how|where|the way|the one|the ones)`, `instead of`, `rather than`, `asked for`, `used to`, `(?:wrong|other) way (?:a)?round`, `(?:the )?opposite`, `upside down`, `backwards`, `reversed`, `the wrong`, `(?:the )?(?:spec|brief|style guide|guidelines|readme|agents.md|claude.md|contract) (?:says|said|asks|wants|requires)`, `(?:is|are) (?:_ ){1,4}, (?:_ ){1,3}(?:is|are|am|was)`, `belongs? (?:in|to|on|under|below|above|at|into)`, `(?:was|were|had|did|took|worked|looked) …before`, `again (?:,|no|not|the|you|it|wrong)`, `(?:keep|leave|want) (?:the|my|it|them|that) …(?:old|original|previous|as (?:it|they) (?:was|were))`, `was (?:about|for|meant)`, `meant (?:to|for|the)`,
		`(?:ich|wir) (?:hatten?|haben?|hab) …(?:gesagt|gebeten|geschrieben|gemeint|verlangt|gewollt|ausgemacht|vereinbart|abgemacht|besprochen)`, `hatt?en? (?:ich|wir)`, `hab(?:e|en)? (?:ich|wir) (?:nicht|doch|dir)`, `ich (?:wollte|meinte|brauchte|sagte)`, `wie (?:gesagt|besprochen|vereinbart)`, `sollte[nt]?`, `(?:vereinbart|abgemacht|ausgemacht|besprochen) (?:war|waren|hatten)`, `(?:war|waren) …(?:vereinbart|abgemacht|ausgemacht|besprochen|gefragt|gemeint)`, `statt(?:dessen)?`, `, (?:nicht|kein\S*) _`, `(?:ist|sind) (?:_ ){1,4}, (?:_ ){1,3}(?:ist|sind|war)`, `(?:gehört|gehören) _`, `(?:war|waren|hatte|hatten|ging|lief|dauerte) …(?:vorher|früher|bisher)`, `als (?:vorher|früher)`, `(?:naja|tja|oje|hä)`, `(?:na ja|ähm?)`, `(?:das|der|die|den|so|da|hier) nicht`, `(?:den|die|das|der) anderen?`, `andersr?um`, `andersherum`, `umgekehrt`, `verkehrt\S*`, `gegenteil`, `(?:war|waren|ist|sind|steht|stand|hieß) doch`, `nicht (?:das|so|dort|da|die|der|den)`, `sondern`,
		`j'avais …(?:dit|demandé|précisé|écrit|parlé)`, `j'ai (?:bien |pourtant |déjà )?(?:dit|demandé|précisé|écrit)`, `je (?:t'ai|t'avais|vous ai) (?:bien |pourtant |déjà )?(?:dit|demandé|précisé)`, `je (?:voulais|parlais|pensais)`, `(?:devait|devrait|devaient|devraient|doit|doivent)`, `(?:était|étaient|est|sont) censée?s?`, `(?:il )?fallait`, `on avait (?:dit|convenu|parlé)`, `(?:convenu|prévu)`, `au lieu (?:de|d'_)`, `, (?:et )?pas _`, `(?:est|sont) (?:_ ){1,4}, (?:_ ){1,3}(?:est|sont|sommes)`, `(?:était|étaient|avait|avaient|marchait|prenait) …avant`, `qu'avant`, `(?:bof|euh|bah|aïe|oups|hein)`, `pas (?:celui|celle|ceux|celles)\S*`, `l'autre`, `à l'envers`, `l'inverse`, `le contraire`, `pas (?:ce que|ce qu'_|comme|là|celui|celle|ça)`, `comme (?:je l'ai|dit|demandé|convenu)`, `(?:c'est|ce sont) (?:bien )?_ (?:que je|qu'il)`,
		`(?:te|os|lo|ya te|yo) (?:lo )?(?:pedí|dije)`, `(?:pedí|dije|habíamos|había|habías) (?:dicho|pedido|quedado|acordado|que|_)`, `(?:yo )?quería\S*`, `(?:me )?refería`, `deberían?`, `debían?`, `tenían? que`, `(?:quedamos|acordamos)`, `en (?:vez|lugar) de`, `, (?:y )?no _`, `(?:es|son|está|están) (?:_ ){1,4}, (?:_ ){1,3}(?:es|son|está|están|estamos|era)`, `(?:era|eran|había|tardaba|funcionaba|tenía) …antes`, `que antes`, `(?:uy|ejem|puf)`, `(?:es[eao]s?|est[eao]s?|ahí|así) no`, `(?:el otro|la otra)`, `al revés`, `lo contrario`, `no (?:es )?(?:lo que|como|así|eso|donde|ese|esa)`, `como (?:te )?(?:dije|pedí)`, `hab(?:ía|íamos) (?:quedado|acordado)`)
	// fault are words of something that is not right.
	fault = phrases(`不对|有误|错|没[^问事关错毛意]|不行|不能|不了|不见|不一致|不够|不准|不到|不出|不全|不起作用|还是|仍然|依然|依旧|又(?:出|报|挂|崩|是|变)|报错|失败|崩|坏了|少了|缺|丢|漏|重复|两次|两遍|切掉|截断|遮|重叠|乱码|空白|空的|不[^错用急过客管好]|太[^好棒赞强牛]|[大小长短宽窄高低]了|拒绝|忽略|跳过|超时|红了|比.{1,8}[还更]|现在(?:比|却|反|都)|一样|没区别|没差别|没变化|打不开|卡(?:死|住|顿|了)|更慢|慢了|反而|多了|多出|只(?:有|显示|改|做|剩|看到)|[写变算排译当弄]成|超出|超过|溢出|看不|奇怪|歪|偏|模糊|根本|压根|哪里|哪有|不通|点不|没了|消失`,
		`(?:broken|breaks|broke|failing|fails|failed|fail|crash|crashes|crashed|crashing|exception|traceback|bug|buggy|missing|lost|empty|blank|overlapping|duplicated|twice|doubled|wrong|incorrect|stuck|frozen|slower|worse|garbled|unreadable|illegible|invisible|misaligned|crooked|identical|nonsense|inaccurate|untrue|misleading|hardly|barely|undefined|nan|404|500|useless|unusable|ugly|weird|odd|truncated|jumps|disappeared|disappears|vanished|gone|outdated|stale|inverted|swapped|noisier|blurry|confusing|made-up|unchanged|claims|refused|ignored|skipped|dropped|threw|stopped|collapsed|rejected|complains|loops|forgets|deprecated|pixelated|cropped|unsorted|unreachable)`, `(?:errors?|overlaps?|overflows?|duplicates?|hangs?|freezes?|flickers?|mixed up|typos?|contradicts?|leaks?|choke[sd]?|refuses?|ignores?|skips?|drops?|throws?|stops?|collapses?|rejects?|keeps? _ing|even (?:when|if|though|without|with)|ever since|time[sd]? out)`,
		`cut off`, `too _`, `(?:way|far|much) (?:too|more|less)`, `off by`, `_ off`, `(?:doesn't|don't|didn't|isn't|aren't|wasn't|weren't|can't|cannot|couldn't|won't|ain't|isnt|doesnt|dont|cant|wont|arent)`, `(?:does not|do not|did not|is not|are not)`, `(?:never|nowhere|none|nobody|neither)`, `there(?:'s| is| are| was| were) (?:another|no|two|three|_ )`, `nothing (?:happens|happened|changed|changes|is|shows)`, `no (?:longer|difference|change|effect|output|data|_ at all)`, `not (?:right|correct|quite|there|shown|visible|enough|work\S*|all|even|the|a|really|what|how|centered|aligned|sorted)`, `(?:is|are|was|were|it's|that's) (?:not|gone|still|never|only)`, `half (?:of|the)`, `only (?:the |one |see |shows? |works? |_ of )?`, `still`, `(?:the )?same (?:as|error|thing|result|problem|issue|bug)`, `(?:looks?|feels?|sounds?|reads?) (?:the same|like|more|weird|off|odd|exactly|almost)`, `out of (?:order|range|place|sync)`, `comes? out (?:as|wrong)`, `makes no sense`, `as (?:before|slow)`, `(?:brighter|darker|bigger|smaller|longer|shorter|higher|lower) than`, `more than`, `_ times`, `used to`, `now (?:the|it|there|i|nothing|everything|every|all|my)`,
		`(?:kaputt|fehlt|fehlen|fehlgeschlagen|abgeschnitten|verschoben|genauso|dasselbe|identisch|unverändert|stürzt|hängt|langsamer|schlechter|verschwunden|unlesbar|mist|quatsch|unsinn|unbrauchbar|krumm|schief|verdreht|seltsam|komisch|unscharf|unvollständig|weiterhin|zweimal|abgestürzt|flackert|vertauscht|überschrieben|rausgefallen|veraltet|scheiße|blödsinn|ragt|verrutscht|verloren|ignoriert|überspringt|wirft|springt|verweigert|weigert|vergisst|rot|verpixelt|abgebrochen)`, `(?:falsch\S*|fehlte\S*|fehlend\S*|fehler\S*|leer\S*|doppelt\S*|überlapp\S*|veraltet\S*|überflüssig\S*|unpassend\S*)`, `(?:geht|gehen|funktioniert|funktionieren|klappt|läuft|laufen|tut|stimmt|stimmen|passt|passen|startet|lädt|reicht|greift|kommt|erscheint|ist|sind|wird|werden|war|hat|kann|sehe|seh) (?:_ )?(?:_ )?(?:_ )?(?:nicht|nichts|nie|gar nicht|überhaupt nicht|kein\S*|falsch|nur)`, `nicht (?:richtig|korrekt|mehr|ganz|wirklich|gewünscht|gefragt|überall|vollständig|was|wie)`, `(?:nicht|nichts|niemand|nirgends|nie)`, `(?:kein\S*)`, `ist (?:es|das) nicht`, `(?:viel )?zu (?:groß|klein|lang|kurz|hell|dunkel|langsam|schnell|weit|breit|schmal|hoch|tief|flapsig|förmlich|steif|locker|werblich|technisch|kompliziert|knapp|viel|wenig|viele|wenige|spät|früh|laut|leise|nah|dicht|eng)\S*`, `(?:viel|deutlich|etwas|immer noch|leider) zu _`, `(?:immer noch|noch immer|schon wieder|nach wie vor)`, `(?:das|der|die) ?(?:gleiche|selbe)\S*`, `kein\S* (?:unterschied|änderung|wirkung|effekt|reaktion)`, `nur (?:_ )?(?:\d+|die|der|das|ein\S*|noch|halb\S*|eine hälfte)`, `(?:jetzt|nun) (?:ist|sind|startet|geht|fehlt|läuft|kommt|steht|wird|hat|werden|dauert|stürzt|hängt)`, `nichts (?:passiert|geändert|mehr)`, `(?:heller|dunkler|größer|kleiner|länger|kürzer) als`, `mehr als`, `weg`,
		`(?:casse|faux|manque|manquent|seulement|zut|merde|mince|n'importe|pire|cassent|trop|rien|double|contredit)`, `(?:cassé\S*|fausse\S*|incorrect\S*|erreurs?|plante\S*|manquant\S*|vide\S*|pareil\S*|identiques?|coupée?s?|tronqué\S*|déborde\S*|dépasse\S*|disparu\S*|perdue?s?|illisible\S*|bizarre\S*|doublons?|inversé\S*|décalé\S*|flou\S*|moche\S*|inutile\S*|bloqué\S*|chevauche\S*|écrasé\S*|obsolète\S*|mauvaise?s?|refuse\S*|ignore\S*|saute\S*|échou\S*|rouges?|pixelisé\S*|absent\S*)`, `(?:ne|n'_) (?:_ )?(?:_ )?(?:pas|plus|rien|jamais|que|aucune?)`, `(?:marche|fonctionne|bouge|change|s'affiche|c'est|est|sont|ai|va|suis|suffit) (?:toujours |même |vraiment )?(?:pas|plus|rien)`, `pas (?:bon|bonne|correct\S*|vrai|normal|assez|du tout|la bonne|le bon|les bons|les bonnes|encore|possible)`, `(?:toujours|encore) (?:pas|le|la|les|aussi|en|un|une|des|du|autant|_ _)`, `(?:la |le )?même (?:erreur|chose|résultat|problème|taille|couleur)`, `aucune? _`, `(?:deux|trois|plusieurs) fois`, `sort de`, `il y (?:a|en a) (?:encore|toujours|deux)`, `y a-t-il (?:encore|toujours)`, `(?:plus|moins) _ (?:que|qu'_)`, `à moitié`, `au milieu`, `maintenant (?:le|la|les|il|elle|ça|c'est|j'ai|plus)`, `une? _ sur (?:deux|trois|_)`,
		`no (?:me |se |lo |la |le |te |nos )?(?:funciona\S*|va|van|sirve\S*|es|está|están|son|compila\S*|carga\S*|aparece\S*|sale\S*|comprueba\S*|cambia\S*|hace\S*|coincide\S*|cuadra\S*|corresponde\S*|ve|ven|veo|muestra\S*|hay|han?|pasa|llega\S*|abre|tiene\S*|existe\S*|respeta\S*|guarda\S*|arranca|deja|era|ha|incluye|responde|salen|encaja|entiende|lee|queda)`, `(?:sigo|todavía|aún|mal|joder|ningún|pisa|feo|tapa|revés|nada|casi|falso)`, `(?:rot[oa]s?|falla\S*|fallos?|error(?:es)?|falta\S*|vací[oa]s?|sigue\S*|igual\S*|incorrect[oa]s?|equivocad[oa]s?|demasiad[oa]s?|duplicad[oa]s?|cortad[oa]s?|desaparec\S*|perdid[oa]s?|peor\S*|cuelga\S*|rar[oa]s?|ilegibles?|ningun[oa]?|borros[oa]s?|superpone\S*|solapa\S*|inventad[oa]s?|torcid[oa]s?|incomplet[oa]s?|repetid[oa]s?|ignora\S*|salta\S*|lanza\S*|roj[oa]s?|pixelad[oa]s?|ausentes?)`, `(?:otra vez|de nuevo|lo mismo|la misma|el mismo|(?:dos|tres) veces|ni (?:siquiera|un|una)|al final|se (?:sale|corta|cae|rompe|pierde|queda|ve|ven|sigue)|más lent[oa]s?|más _ que|hay (?:_ )?(?:dos|tres|otr[oa]|un[oa]?|más)|ahora (?:el|la|los|las) _ (?:no|está|están|es|sale|salen|tiene|se)|ahora (?:tarda|no|me|sale|falla|hay|se)|sól?o (?:_ )?(?:\d+|la|el|los|las|has|aparece\S*|una?|veo)|muy (?:lento|grande|pequeño|largo|corto|formal|oscuro|claro)\S*)`)
	// seen are words of what the user saw of the result.
	seen = phrases(`在我|我(?:这边|这里|手机|电脑)|我(?:刚|试|看|测|跑|点|打开)|看(?:到|着|起来)|打开(?:后|以后)|点(?:了|击)|跑了|试了|实际`,
		`i (?:_ )?(?:see|get|count|counted|tried|tested|ran|measured|checked|clicked|opened|can see|got)`, `on my (?:phone|iphone|machine|screen|laptop|mac|pc|side|end)`, `(?:ran|tried|tested|checked|clicked|opened) it`, `in (?:excel|firefox|safari|chrome|dark mode|the browser)`, `(?:getting|seeing) _`, `when i`, `for me`,
		`ich (?:seh|sehe|bekomme|bekomm|kriege|krieg|zähle|hab's|habe es|habs)`, `(?:bei|auf) (?:mir|meinem|meiner)`, `(?:seh|sehe|bekomme|kriege|zähle) ich`, `(?:auf dem|am) (?:handy|iphone|tablet)`, `wenn ich`,
		`je (?:vois|reçois|compte|tombe|viens)`, `(?:sur|chez|dans) (?:mon|ma|moi)`, `j'ai (?:testé|essayé|compté|mesuré|relancé|vérifié|cliqué|ouvert)`, `j'(?:obtiens|en vois|en compte)`, `quand je`,
		`(?:yo )?(?:lo |la |los |las )?veo`, `en (?:mi|el móvil|el iphone|safari|firefox)`, `(?:acabo de|he) (?:medi\S*|probar\S*|probado|medido|comprobar\S*|mirar\S*|abrir\S*|contar\S*|contado|ejecutar\S*)`, `me (?:sale\S*|da|aparece\S*|salta)`, `cuando (?:abro|pulso|hago|pincho)`, `al (?:abrir|pulsar|hacer|ejecutar|girar)`)
	// behaves are words of what a result does, as one sees it.
	behaves = phrases(`显示|出现|跑到|停在|留在|弹出|返回|排在|挂在|变成|还在`,
		`(?:shows?|showing|appears?|appearing|ends? up|lands?|sits?|stays?|stayed|accepts?|rejects?|displays?|prints?|returns?|counts?|includes?|contains?|comes?|goes|loses|says|reads|begins|repeats|opens|jumps|points|covers|hides|sticks|sounds|feels|takes|starts|ends|turns|becomes|changed|moved|wraps|splits|misses|looks?|look) _`,
		`(?:zeigt|zeigen|erscheint|erscheinen|steht|stehen|landet|landen|bleibt|bleiben|kommt|kommen|akzeptiert|nimmt|liefert|zählt|enthält|geht|springt|verschwindet|verdeckt|öffnet|klingt|wirkt|dauert|heißt|beginnt|endet|sieht|fängt|hört) _`,
		`(?:affiche|affichent|apparaît|apparaissent|reste|restent|est resté\S*|sont resté\S*|accepte|refuse|renvoie|donne|compte|contient|sort|sortent|tombe|arrive|commence|finit|cache|prend|s'ouvre|dit|démarre|change|devient|semble|ressemble|passe|passent|devient|va|vont) _`,
		`(?:sale|salen|aparece\S*|acepta\S*|rechaza\S*|muestra\S*|devuelve\S*|cuenta\S*|contiene\S*|se queda\S*|empieza\S*|termina\S*|incluye\S*|pone|tapa\S*|dice|tarda\S*|suena\S*|ocupa\S*|llega\S*|viene\S*|cambia\S*|cambió|parece\S*|convierte\S*) _`)
	// states begins a statement of what a part of a result is.
	states = phrases(`^[^我你您]{2,8}是[^否]|^[它这那].{4,}`,
		`(?:the|its|my|all|every|some|one|half) (?:_ ){1,4}(?:is|are|was|were|has|have) _`, `(?:it|this|that|they|these|those) _ _`, `(?:it's|this is|they're|they are|it is|these are|those are) _`, `(?:es|das|sie|er|diese\S*) _ _`, `(?:(?:es|das) (?:ist|sind|sieht)|ist|sind|sieht) _`, `(?:ça|cela|il|elle|ils|elles) _ _`, `(?:c'est|il est|elle est|ce sont|ils sont|elles sont) _`, `(?:eso|esto|ese|esa|esos|esas) _ _`, `(?:está|están|era|eran|son|es) _`, `(?:der|die|das|alle|mein\S*|jede\S*) (?:_ ){1,4}(?:ist|sind|war|waren|hat|haben|wird|werden) _`,
		`(?:le|la|les|l'_|mon|ma|mes|tous|toutes) (?:_ ){0,4}(?:est|sont|était|étaient|a|ont) _`, `(?:el|la|los|las|mi|mis|todos|todas) (?:_ ){1,4}(?:es|son|está|están|era|eran|tiene|tienen|ha|han) _`)
	// facts are words of news for an agent, which ask for nothing.
	facts = phrases(`密码|密钥|服务器|数据库|地址|链接|会议|截止`,
		`(?:credentials|vault|env|meeting|deadline|demo|release|budget|boss|team|wiki|btw|fyi|located|available|called|next|backlog)`, `(?:passwords?|keys?|tokens?|servers?|hosts?|urls?|links?|repo\S*|branch\S*|\.env|customers?|clients?|docs?|by the way)`,
		`(?:passwort|schlüssel|zugangsdaten|server|datenbank|db|adresse|termin|frist|demo|chef|übrigens|liegt|liegen|heißt|meeting)`, `(?:kunden?|nächste\S*)`,
		`(?:clé|serveur|base|adresse|lien|réunion|démo|suite)`, `(?:mot de passe|client\S*|au fait|prochain\S*)`, `(?:contraseña|clave|servidor|base|dirección|enlace|reunión|demo)`, `(?:cliente\S*|por cierto|siguiente\S*|próxim\S*)`)
	// part is a question for what is not there.
	part = phrases(`^[^?]{1,20}呢 ?\?|^(?:那)?[^?]{0,14}(?:去哪|在哪|哪去|在哪里|去了哪)`,
		`(?:and |but |ok |so )*(?:what about|where (?:is|are|did|has|have|'s)|where's|what happened to|and (?:the|my|our)) [^?]{2,60} \?`, `(?:and |but )?the [^?]{2,40} \?`,
		`(?:und |aber )*(?:was ist mit|wo (?:ist|sind|bleibt|bleiben|steht|hast)|und (?:die|der|das|den|im|in|bei)) [^?]{2,60} \?`,
		`(?:et|mais) (?:pour |dans )?(?:les|le|la|l'_|mes|nos|sur|dans|pour) ?[^?]{0,60} \?`, `où (?:est|sont|sont passé\S*|est passé\S*) [^?]{2,60} \?`, `(?:et )?qu'en est-il [^?]{2,60} \?`,
		`(?:y|pero) (?:el|la|los|las|qué pasa con|qué hay de|mis|en) [^?]{0,60} \?`, `(?:y )?(?:dónde (?:está|están|quedó|quedaron|has)|qué (?:pasa|pasó) con|qué hay de) [^?]{2,60} \?`)
	// ask are questions about a fault, not for something to know.
	ask = phrases(`为什么|怎么|凭什么|不是.*吗|哪里`,
		`(?:why|how come|how can) _`, `(?:didn't|doesn't|isn't|aren't|wasn't|weren't|shouldn't|haven't|hasn't|couldn't) _`, `(?:seriously|really) \?`, `since when`, `\? \?`,
		`(?:warum|wieso|weshalb)`, `(?:seit wann|hatten? (?:ich|wir) nicht|sollten? (?:das|es|der|die) nicht|wolltest du nicht|wie kommt)`,
		`(?:pourquoi)`, `(?:comment ça se fait|depuis quand|n'avais-je pas|ne (?:devait|devrait)-_|je n'avais pas)`,
		`(?:por qué|cómo (?:es|puede) que|cómo que|desde cuándo|no (?:te )?(?:había|habíamos|dije|pedí|quedamos|era|deberían?|tenían?))`)
	// turn are words with which praise turns.
	turn = phrases(`但|不过|可是|只是|就是|还差|除了`,
		`(?:but|except|however|although|though|still|yet)`, `(?:only thing)`, `(?:aber|nur|allerdings|jedoch|trotzdem|außer)`, `(?:bis auf|immer noch)`, `(?:mais|sauf|cependant|pourtant|sinon|hormis|toujours)`, `(?:par contre)`, `(?:pero|salvo|excepto|aunque|menos|sino)`, `(?:sin embargo|sólo que|solo que)`)
)
