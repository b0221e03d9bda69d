#!/bin/sh
# An environment in shell: naming release files. One JSON object a line comes
# in, one goes out. The "agent" is a toy that keeps a convention only when the
# skill states it. sed is enough for flat fields; for more, use jq.

field() { # field NAME: the text field NAME of $line
	printf '%s\n' "$line" | sed -n "s/.*\"$1\":\"\([^\"\\\\]*\)\".*/\1/p"
}

while IFS= read -r line; do
	id=$(field id)
	version=$(field version)
	name=$(field name)
	if [ -z "$version" ] || [ -z "$name" ]; then
		# Nothing was measured, which is not a score of 0.
		printf '{"id":"%s","error":"the task has no name or version"}\n' "$id"
		continue
	fi
	case "$line" in
	*'"type":"tag"'*)
		answer=$version
		case "$line" in *"begins with v"*) answer=v$version ;; esac
		;;
	*)
		answer="$name $version.tar.gz"
		case "$line" in *"lower case"*) answer=$(printf '%s' "$answer" | tr '[:upper:]' '[:lower:]') ;; esac
		case "$line" in *"hyphen"*) answer=$(printf '%s' "$answer" | tr ' ' '-') ;; esac
		;;
	esac
	printf '{"id":"%s","answer":"%s","trajectory":[{"role":"assistant","content":"%s"}]}\n' "$id" "$answer" "$answer"
done
