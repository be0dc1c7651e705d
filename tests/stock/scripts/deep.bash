# Functions, eval, loops and command substitutions by turns. Each substitution is a forked subshell that inherits the
# native stack of its parent, so the innermost process has all of it; it announces its own process id.
descend() {
  local depth=$1 answer
  if ((depth == 0)); then
    echo "$BASHPID" >&"$STOCK_READY_FD"
    read -r answer
    return
  fi
  case $((depth % 4)) in
    0) answer=$(descend $((depth - 1))) ;;
    1) eval "if true; then descend $((depth - 1)); fi" ;;
    2) for _ in once; do descend $((depth - 1)) || true; done ;;
    3) { while descend $((depth - 1)); do break; done; } ;;
  esac
}
descend "$1"
