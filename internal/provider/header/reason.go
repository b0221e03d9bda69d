package header

import "encoding/json"

// Present reports whether a field of a body was given, and not as null.
func Present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Reason finds what the body of a refusal says of it: the object under "error" or
// "detail", the first of a list of such objects, or the body itself. A nil object
// means that text is all there is: the body is one text, or has one in that place,
// or is no JSON at all, since a proxy's web page says more than nothing.
func Reason(body []byte) (object json.RawMessage, text string) {
	const deepest = 3
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	for range deepest {
		if json.Unmarshal(body, &text) == nil {
			return nil, text
		}
		var w struct {
			Error  json.RawMessage `json:"error"`
			Detail json.RawMessage `json:"detail"`
		}
		if json.Unmarshal(body, &w) != nil {
			break
		}
		switch {
		case Present(w.Error):
			body = w.Error
		case Present(w.Detail):
			body = w.Detail
		default:
			return body, ""
		}
	}
	return nil, string(body)
}
