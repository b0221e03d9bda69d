package mine

import (
	"strings"
	"unicode/utf8"
)

// maxRefusal is from how many characters on an answer that begins as a refusal says something all the same.
const maxRefusal = 600

// refusal is how an agent begins that does not answer, in some languages: that it cannot. An apology alone is none, since it
// begins what was corrected as well.
var refusal = newPattern(`(?i)^[\W\d_]*(` + strings.Join([]string{
	`((i'?m |i am |we're |we are )?(so |very |really )?sorry[,.!: ]+(but )?|unfortunately,? |as an ai[^,.\n]{0,40}, )?(i|we)( am|'m| are|'re)? ?(can(no|')?t|can not|unable to|not able to|won't|do(n't| not) (know|have|see|understand))`,
	`(sorry[,.!: ]+)?(cannot|can't|unable to) (complete|do|help|answer|comply|assist)`, `no can do\b`,
	`((es )?tut mir (sehr )?leid[,.!: ]+(aber )?|leider )?(ich kann|kann ich|das kann ich)\b[^.!?\n]{0,80}\b(nicht|keine?[nrms]?)\b`, `ich bin nicht in der lage`,
	`((je suis )?désolée?[,.!: ]+(mais )?|malheureusement,? )?je ne (peux|puis|sais|comprends|vois|suis pas en mesure)`,
	`(lo siento[,.!: ]+(pero )?|lamentablemente,? )?no (puedo|me es posible|soy capaz|sé\b|entiendo|veo)`,
	`(desculpe|sinto muito|infelizmente)?[,.!: ]*(mas )?(eu )?não (posso|consigo|sei\b|entendo)`,
	`(mi dispiace[,.!: ]+(ma )?|purtroppo )?non (posso|riesco|sono in grado|so\b|capisco)`,
	`(het spijt me[,.!: ]+(maar )?|helaas )?(ik kan|kan ik)\b[^.!?\n]{0,80}\b(niet|geen)\b`,
	`(извините|простите|к сожалению)?[,.!: ]*(но )?я не (могу|умею|знаю|понимаю|вижу)`, `(przepraszam|niestety)?[,.!: ]*(ale )?nie (mogę|potrafię|wiem|rozumiem)`,
	`(很?抱歉|对不起|對不起|不好意思)?[，,。 ]*(但)?我(无法|無法|不能|没办法|沒辦法|没法|做不到)`, `[^。\n]{0,40}(できません|できかねます|分かりません|わかりません)`, `[^.\n]{0,40}(할 수 없|못합니다|모르겠습니다)`,
}, "|") + `)`)

// refuses reports whether an answer is nothing but a refusal.
func refuses(answer string) bool {
	text := strings.ReplaceAll(strings.TrimSpace(answer), "\u2019", "'")
	return utf8.RuneCountInString(text) < maxRefusal && refusal().MatchString(text)
}
