package toolserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// maxResult is how much of a result the model is shown, in bytes.
const maxResult = 256 << 10

// text returns a result as a text. What is no text is described.
func text(r *mcp.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, describe(c))
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil { // it was read from JSON
			parts = append(parts, string(data))
		}
	}
	return strings.Join(parts, "\n")
}

func describe(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return media("image", c.MIMEType, c.Data)
	case *mcp.AudioContent:
		return media("audio", c.MIMEType, c.Data)
	case *mcp.ResourceLink:
		return fmt.Sprintf("[a link to a resource: %s %s %s]", c.Name, c.URI, c.MIMEType)
	case *mcp.EmbeddedResource:
		switch {
		case c.Resource == nil:
		case c.Resource.Text != "":
			return c.Resource.Text
		default:
			return media("resource "+c.Resource.URI, c.Resource.MIMEType, c.Resource.Blob)
		}
	}
	return "[content of a kind that is not shown]"
}

func media(what, mime string, data []byte) string {
	return fmt.Sprintf("[%s, %s, %s: it is not shown]", what, mime, disk.Size(int64(len(data))))
}
