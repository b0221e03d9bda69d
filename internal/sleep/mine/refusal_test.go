package mine

import (
	"strings"
	"testing"
)

// An answer that does not answer is never the one that was accepted, however it is quoted, numbered, spelled or in
// whatever language; one that is explained, or says sorry and answers, is.
func TestTrap21Refusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I cannot do that.", "> I cannot do that.", "> > - **I can't** help", "1. I cannot help with that.", "2) I'm unable to do so", "_I can\u2019t help._", "# I\u2019m sorry, but I can\u2019t assist.",
		"I cannot " + strings.Repeat("\u0130", 300), "I'm sorry, but I am unable to complete this.", "Sorry, I can't.", "Unfortunately, I cannot open the file.", "As an AI language model, I cannot do this.",
		"unable to complete", "No can do", "we won't do that", "I can not do it", "I don\u2019t know.",
		"Ich kann dir dabei leider nicht helfen.", "Es tut mir leid, aber ich kann keine Dateien öffnen.", "Leider kann ich das nicht.", "Je ne peux pas vous aider.", "Désolé, mais je ne peux pas.",
		"Lo siento, pero no puedo ayudarte.", "Desculpe, não posso ajudar.", "Mi dispiace, ma non posso aiutarti.", "Het spijt me, maar ik kan dat niet doen.", "Извините, я не могу помочь.", "Przepraszam, nie mogę pomóc.",
		"抱歉,我无法完成这个任务。", "我不能帮助你。", "申し訳ありませんが、それはできません。", "죄송하지만 도와드릴 수 없습니다. 할 수 없습니다.",
	} {
		if !refuses(text) {
			t.Errorf("%.60q is an answer", text)
		}
	}
	explained := "I cannot use the library, since it is not installed. " + strings.Repeat("Here is the same by hand, step by step. ", 20)
	for _, text := range []string{
		explained, "> " + explained, "Sorry about that! Here is the table again:\n| a | b |", "I'm sorry for the mix-up. It is due on 2026-04-04.", "Entschuldigung, hier ist die Liste: a, b.",
		"Désolé pour l'erreur : le 4 avril 2026.", "抱歉,这是更正后的日期:2026-04-04。", "It cannot be null.", "The file can't be opened twice.", "Canonical form: 2026-04-04", "I can do that: 2026-04-04", "Ich kann das bestätigen: 2026-04-04.",
		"No, it is due on 4 April.", "Non è il 4, ma il 5.", "Ikan is fish.", "Je ne", "不能使用 var。", "1. Open it.\n2. I cannot say more.",
	} {
		if refuses(text) {
			t.Errorf("%.60q is a refusal", text)
		}
	}
}

// What was taken after a correction is not a refusal: then nothing was accepted.
func TestTrap21ARefusalIsNotAccepted(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"1. I can\u2019t tell more than 2026-04-04.", "> Ich kann das leider nicht beantworten, wohl 2026-04-04."} {
		s := dueDate("s1")
		s.Turns[1].Agent = last
		m := mined(t, replyOf(t, dueTask()), s)
		if len(m.Tasks) != 0 {
			t.Errorf("%q was taken for the accepted answer: %+v", last, m.Tasks[0])
		}
	}
}
