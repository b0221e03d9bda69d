"""Writes what the action found as one comment of a pull request, and into the summary of
the job. An earlier comment of its own is changed instead of a second one written.

Everything comes from variables and from files in SKILLOPT_OUT. Texts of tasks, models and
skills are in code blocks that they cannot end, and so is report.md: it is a file of the checkout,
which a pull request writes as it likes. What is not read or not allowed is named in the log and fails nothing: the comment is
an extra.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request

LIMIT = 60000  # characters; GitHub takes 65,536
REPORT = 30000
CUT = "\n\n(cut: the whole is in the artifact)\n"


def read(name, most=20000):
    """The text of a file of a step, "" if it is not there, without what steers a screen."""
    try:
        with open(name, encoding="utf-8", errors="replace") as f:
            text = f.read(most + 1)
    except OSError:
        return ""
    more = len(text) > most
    text = re.sub(r"[^\n\t\x20-\x7e\u00a0-\ufdff\ufe70-\ufefe\uff01-\ufffd\U00010000-\U0010ffff]", "?", text)
    text = re.sub("[\u200b-\u200f\u202a-\u202e\u2060-\u206f]", "", text)
    return text[:most] + CUT if more else text


def within(path):
    """A path below the working directory that no link leads out of, else ""."""
    if not path:
        return ""
    real, root = os.path.realpath(path), os.path.realpath(".")
    if os.path.isfile(real) and os.path.commonpath([real, root]) == root:
        return real
    print(f"report: {path!r} is no file below the checkout")
    return ""


def fenced(text):
    """A code block that the text cannot end."""
    longest = max((len(m) for m in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"


def marker(config):
    """What tells the comment of one config from all others; plain characters only."""
    return "<!-- skillopt action: " + re.sub(r"[^A-Za-z0-9._/-]|--", "_", config)[:200] + " -->"


def code(out, step):
    """The exit code that a step has ended with, 0 if it was not carried out."""
    text = read(os.path.join(out, step + ".code")).strip()
    return int(text) if text.isdecimal() else 0


def body(out, config, report):
    """The text of the comment."""
    name = re.sub(r"[^\w./ -]", "_", config)
    parts = [marker(config), f"### skillopt: `{name}`\n"]
    if code(out, "lint"):
        parts.append("**Lint found errors, so that nothing was scored or compared. No model was asked.**\n")
    for file, title in (("skipped", ""), ("compare", "Compared with the base branch"), ("eval", "Score"), ("lint", "Lint")):
        text = read(os.path.join(out, file + ".txt"))
        if text and not title:
            parts.append(f"**{text.strip()}**\n" if "\n" not in text.strip() else fenced(text))
        elif text:
            failed = code(out, file)
            parts.append(f"**{title}{f': failed with exit code {failed}' if failed else ''}**\n\n{fenced(text)}")
    report = within(report)
    text = read(report, REPORT) if report else ""
    if text:
        parts.append(f"<details><summary>report.md</summary>\n\n{fenced(text)}\n</details>\n")
    whole = "\n".join(parts)
    return whole if len(whole) <= LIMIT else whole[: LIMIT - len(CUT)] + CUT


class API:
    """The few requests that are made of GitHub, each with a deadline."""

    def __init__(self, base, token):
        self.base, self.token = base.rstrip("/"), token

    def send(self, method, path, data=None):
        request = urllib.request.Request(
            self.base + path,
            method=method,
            data=None if data is None else json.dumps(data).encode(),
            headers={
                "Authorization": "Bearer " + self.token,
                "Accept": "application/vnd.github+json",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": "skillopt-action",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read(20 << 20))

    def own(self, repository, number, mark):
        """The ids of earlier comments of this action, newest first."""
        found = []
        for page in range(1, 31):
            some = self.send("GET", f"/repos/{repository}/issues/{number}/comments?per_page=100&page={page}")
            # Whoever copies the mark is no bot, and what they wrote stays theirs.
            found += [c["id"] for c in some if c.get("user", {}).get("type") == "Bot" and (c.get("body") or "").startswith(mark)]
            if len(some) < 100:
                break
        return found[::-1]

    def write(self, repository, number, mark, text):
        for id in self.own(repository, number, mark):
            try:
                self.send("PATCH", f"/repos/{repository}/issues/comments/{id}", {"body": text})
                return "changed"
            except urllib.error.HTTPError as e:
                if e.code not in (403, 404):  # another bot's, or gone since
                    raise
        self.send("POST", f"/repos/{repository}/issues/{number}/comments", {"body": text})
        return "written"


def pull_request(path):
    """The number of the pull request that an event is of, 0 if of none."""
    try:
        with open(path, encoding="utf-8") as f:
            number = json.load(f).get("pull_request", {}).get("number", 0)
    except (OSError, ValueError, AttributeError):
        return 0
    return number if isinstance(number, int) and number > 0 else 0


def main(env):
    out = env.get("SKILLOPT_OUT") or os.path.join(env.get("RUNNER_TEMP") or "/tmp", "skillopt")
    config = env["SKILLOPT_CONFIG"]
    text = body(out, config, env.get("SKILLOPT_REPORT", ""))
    with open(os.path.join(out, "comment.md"), "w", encoding="utf-8") as f:
        f.write(text)
    if env.get("GITHUB_STEP_SUMMARY"):
        with open(env["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as f:
            f.write(text + "\n")
    if env.get("SKILLOPT_COMMENT", "true") != "true":
        return
    number, token = pull_request(env.get("GITHUB_EVENT_PATH", "")), env.get("SKILLOPT_TOKEN", "")
    repository = env.get("GITHUB_REPOSITORY", "")
    if not number or not token or not re.fullmatch(r"[\w.-]+/[\w.-]+", repository, re.ASCII):
        print("no comment: this is no pull request, or there is no token; the summary of the job has it")
        return
    try:
        print("comment", API(env.get("GITHUB_API_URL", "https://api.github.com"), token).write(repository, number, marker(config), text))
    except (OSError, ValueError) as e:  # with it all errors of urllib
        print(f"no comment: {e}; the summary of the job has it (permissions: pull-requests: write; a fork has none)")


if __name__ == "__main__":
    main(dict(os.environ))
    sys.exit(0)
