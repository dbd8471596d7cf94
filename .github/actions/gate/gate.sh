#!/bin/bash
# Gate a build in CI. The exit code is always that of the gate.
words() { if [ -n "$1" ]; then mapfile -t list <<<"$1"; else list=(); fi; }

words "$OPTIONS"
options=("${list[@]}")
for option in "${options[@]}"; do
  if [ "$option" = --help ] || [ "$option" = -h ]; then
    echo "::error::$option would not test the build: remove it from the options."
    exit 2
  fi
done
if git check-ignore -q -- "$LEDGER"; then
  echo "::warning::.gitignore covers $LEDGER, so the ledger will not be committed."
fi
comment=$(mktemp)

gate() {
  if [ ! -e "$LEDGER" ] && [ -n "$BASELINE" ]; then
    words "$BASELINE"
    bestofk gate start "${list[@]}" --ledger "$LEDGER" || return
  fi
  bestofk gate "$NEW" --ledger "$LEDGER" --build "$BUILD" --markdown "$comment" "${options[@]}"
}

record() {
  git add -- "$LEDGER" && git -c user.name=bestofk -c user.email=bestofk@users.noreply.github.com \
    commit --quiet --only --message "Record build $BUILD in the release gate" -- "$LEDGER"
}

gate && code=0 || code=$?
if [ -s "$comment" ]; then
  cat "$comment" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  if [ -n "$GH_TOKEN" ] && [ -n "$PULL_REQUEST" ]; then
    gh pr comment "$PULL_REQUEST" --body-file "$comment" || echo "::warning::no comment was written."
  fi
fi
# a pull request has a detached head: there is no branch to push to
if [ "$COMMIT" = true ] && branch=$(git symbolic-ref --quiet --short HEAD) &&
  [ -n "$(git status --porcelain -- "$LEDGER")" ]; then
  record
  for attempt in 1 2 3 4 5; do
    git push --quiet origin "HEAD:$branch" && break
    # another job was faster: add the build to its ledger
    if [ "$attempt" = 5 ] || ! git fetch --quiet origin "$branch"; then
      echo "::warning::the ledger was not pushed."
      break
    fi
    git reset --quiet --soft FETCH_HEAD && git checkout --quiet FETCH_HEAD -- "$LEDGER"
    gate >/dev/null
    record
  done
fi
exit "$code"
