package night

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
)

// maxFile bounds what is read of a night's folder.
const maxFile = 16 << 20

// Proposal is what a night has staged.
type Proposal struct {
	result.NightProposal

	dir string
}

// sum returns the HMAC of a proposal.
func (p Proposal) sum(key []byte) (string, error) {
	p.HMAC = ""
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("sign the proposal: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("skillopt proposal\n"))
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// stage writes what the night proposes into its folder, the manifest last.
func (n *night) stage(ctx context.Context, jobs []job) error {
	p := Proposal{NightProposal: result.NightProposal{
		Format: Format, Night: n.report.ID, Project: n.Project, Made: n.report.Started, Version: n.Version,
		Exploratory: n.report.Exploratory, Simulated: n.report.Simulated, Items: []Item{},
	}}
	for i := range jobs {
		j := &jobs[i]
		if j.text == "" {
			continue
		}
		// Between reading the document and now models were asked for a long time.
		if err := n.checkUnchanged(j); err != nil {
			j.out.Outcome, j.out.Reason = Refused, err.Error()
			n.setTarget(j.out)
			continue
		}
		name, stands := slug(j.doc.ID()), j.out.Outcome
		if !stands.Staged() {
			stands = Suggested // of too few tasks to say more
		}
		item := Item{
			Target: j.doc.ID(), Outcome: stands, Reason: j.out.Reason, File: name + ".proposed.md", Original: name + ".live.md",
			LiveSHA: j.doc.Digest(), SHA: target.Digest(j.text), Rules: j.out.Rules, Whole: n.whole(j),
		}
		var err error
		if item.Files, err = stageFiles(n.folder(), j, name); err != nil {
			return err
		}
		if err := errors.Join(writeFile(n.folder(), item.File, []byte(j.text)), writeFile(n.folder(), item.Original, []byte(j.doc.Text))); err != nil {
			return err
		}
		j.out.Proposal, j.out.Proposed = item.File, item.SHA
		digest := item.SHA
		if j.doc.Kind == target.Skill {
			j.out.Consolidation.NewSkill = &digest
		} else {
			j.out.Consolidation.NewMemory = &digest
		}
		j.out.Consolidation.Accepted = j.out.Outcome == Supported || j.out.Outcome == Certified
		p.Items = append(p.Items, item)
		n.setTarget(j.out)
	}
	if err := n.diagnose(jobs); err != nil {
		return err
	}
	if len(p.Items) == 0 {
		return ctx.Err()
	}
	var err error
	if p.HMAC, err = p.sum(n.key); err != nil {
		return err
	}
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write the proposal: %w", err)
	}
	return writeFile(n.folder(), result.NightProposalFile, append(data, '\n'))
}

// setTarget puts what is known of a target into the report.
func (n *night) setTarget(t Target) {
	if i := slices.IndexFunc(n.report.Targets, func(o Target) bool { return o.Target == t.Target }); i >= 0 {
		n.report.Targets[i] = t
	}
}

// checkUnchanged fails if the live document is not what the night has read.
func (n *night) checkUnchanged(j *job) error {
	now, err := n.reread(j.doc)
	if err != nil {
		return err
	}
	if now.Digest() != j.doc.Digest() || now.File() != j.doc.File() || !n.readFolder(now).Equal(j.folder) {
		return &target.Error{Name: j.doc.File(), Reason: "it has changed while the night was at work; the next night begins with what it is now"}
	}
	return nil
}

func (n *night) reread(doc target.Target) (target.Target, error) {
	if doc.Kind == target.Skill {
		return target.FindSkill(n.Places, doc.Name)
	}
	return target.FindMemory(n.Places, doc.Name)
}

// Open reads a night's proposal. fs.ErrNotExist: it has none. It is not proved to be the user's own: see Verify.
func Open(dir, project, id string) (*Proposal, error) {
	folder := Folder(dir, project, id)
	data, err := readFile(folder, result.NightProposalFile)
	if err != nil {
		return nil, err
	}
	var p Proposal
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s: it cannot be read: %w", filepath.Join(folder, result.NightProposalFile), err)
	}
	if p.Format != Format {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads format %d", filepath.Join(folder, result.NightProposalFile), p.Format, Format)
	}
	if p.Night != id || p.Project != project {
		return nil, fmt.Errorf("%s: it is of another night or project", filepath.Join(folder, result.NightProposalFile))
	}
	p.dir = folder
	return &p, nil
}

// Verify fails if the proposal, or a text of it, is not as this user's night has written it.
func (p *Proposal) Verify(dir string) error {
	key, err := readKey(dir)
	if err != nil {
		return err
	}
	want, err := p.sum(key)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(p.HMAC)) {
		return fmt.Errorf("%s: it is not as the night has written it; discard it", filepath.Join(p.dir, result.NightProposalFile))
	}
	for _, item := range p.Items {
		_, err := p.Text(item.Target)
		if _, bad := p.Files(item.Target); errors.Join(err, bad) != nil {
			return errors.Join(err, bad)
		}
	}
	return nil
}

// Text returns what is proposed for a document, whose digest is that of the manifest.
func (p *Proposal) Text(id string) (string, error) { return p.file(id, false) }

// Live returns the text of a document that the proposal was made from.
func (p *Proposal) Live(id string) (string, error) { return p.file(id, true) }

func (p *Proposal) file(id string, live bool) (string, error) {
	it, err := p.item(id)
	if err != nil {
		return "", err
	}
	if live {
		return p.read(it.Original, it.LiveSHA)
	}
	return p.read(it.File, it.SHA)
}

// item returns what is proposed for a document.
func (p *Proposal) item(id string) (Item, error) {
	i := slices.IndexFunc(p.Items, func(it Item) bool { return it.Target == id })
	if i < 0 {
		return Item{}, fmt.Errorf("night %s proposes nothing for %s", p.Night, id)
	}
	return p.Items[i], nil
}

// read reads a text of the night's folder that has a digest; "": it is empty.
func (p *Proposal) read(name, sha string) (string, error) {
	if name != filepath.Base(name) {
		return "", fmt.Errorf("night %s: %q is no name of a file", p.Night, name)
	}
	data, err := readFile(p.dir, name)
	if err != nil {
		return "", err
	}
	if got := target.Digest(string(data)); got != sha && (sha != "" || len(data) > 0) {
		return "", fmt.Errorf("%s: it is not as the night has written it; discard the proposal", filepath.Join(p.dir, name))
	}
	return string(data), nil
}

// Discard deletes what a night has staged. What is known of the night stays.
func Discard(dir, project, id string) error {
	p, err := Open(dir, project, id)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("open the night: %w", err)
	}
	// The manifest goes first: without it there is no proposal.
	err = root.Remove(result.NightProposalFile)
	for _, item := range p.Items {
		names := []string{item.File, item.Original}
		for _, f := range item.Files {
			names = append(names, f.File, f.Original)
		}
		for _, name := range names {
			if name == filepath.Base(name) {
				err = errors.Join(err, absentIsFine(root.Remove(name)))
			}
		}
	}
	return errors.Join(err, root.Close())
}

func absentIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Key returns the key of what this user's nights stage, and of what is adopted of it. It makes the key where there is none.
func Key(dir string) ([]byte, error) { return readKey(dir) }

// readKey reads the key of the user's proposals, or makes it.
func readKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("make a key: %w", err)
		}
		return key, writeFile(dir, keyFile, []byte(hex.EncodeToString(key)+"\n"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > 1024 {
		return nil, fmt.Errorf("%s: it is no key; move it away: proposals that were staged with it cannot be adopted any more", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := hex.DecodeString(string(data[:max(0, len(data)-1)]))
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%s: it is no key; move it away: proposals that were staged with it cannot be adopted any more", path)
	}
	return key, nil
}

// writeFile writes a file of a folder, for the user alone, whole or not at all. Nothing is written through a link.
func writeFile(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer func() { _ = root.Close() }() // what was written is synced
	return disk.WriteIn(root, name, data, 0o600)
}

// readFile reads a file of a night or of a run of it. It waits for no one: the file is on the disk.
func readFile(dir, name string) ([]byte, error) {
	return disk.ReadOwn(context.Background(), dir, name, maxFile)
}
