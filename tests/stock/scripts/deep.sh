# Some calls deep; at the bottom it says so and computes.
down() {
  if [ "$1" -gt 0 ]; then down $(($1 - 1)); else
    printf '!'
    while :; do sum=$((sum + 7 & 65535)); done
  fi
}
down 20
