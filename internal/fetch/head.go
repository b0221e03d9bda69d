package fetch

import (
	"context"
	"fmt"
	"net/url"
)

// Head asks Hugging Face which commit a branch or tag of a data set is at, 40 hex digits. It is for
// sources without a commit, before they are planned: from then on that commit holds. progress, which may
// be nil, learns of waits.
func Head(ctx context.Context, o Options, repo, branch string, progress func(Event)) (string, error) {
	c, err := newClient(o)
	if err != nil {
		return "", err
	}
	defer c.close()
	if progress != nil {
		c.tell = progress
	}
	s := Source{HF: repo, Revision: branch}
	at := c.hf.JoinPath("api", "datasets", repo, "revision", url.PathEscape(branch))
	var info struct {
		SHA string `json:"sha"`
	}
	if _, err := c.json(ctx, request{url: at, token: c.o.HFToken, base: c.hf, source: s}, &info); err != nil {
		return "", err
	}
	if !isHex(info.SHA, 40) {
		return "", &Error{Origin: s.String(), Err: ErrAnswer, Msg: fmt.Sprintf("the commit of %s is given as %.60q, which is none", branch, info.SHA)}
	}
	return info.SHA, nil
}
