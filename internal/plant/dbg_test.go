package plant

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestDbgTmp(t *testing.T) {
	p := os.Getenv("F")
	if p == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(p)
	fmt.Println(Code(p, string(b)))
	fmt.Println(Functions(p, b))
}
func TestMaskTmp(t *testing.T) {
	l := os.Getenv("MASK")
	if l == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(l)
	for _, p := range strings.Fields(string(b)) {
		x, _ := os.ReadFile(p)
		os.WriteFile("/tmp/h52c/mask/"+strings.ReplaceAll(p, "/", "_"), []byte(Code(p, string(x))), 0o644)
	}
}
