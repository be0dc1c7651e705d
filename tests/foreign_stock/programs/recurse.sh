# A function that calls itself.
deep() {
  if [ "$1" = 0 ]; then kill -ABRT $$; else deep $(($1 - 1)); fi
  :
}
deep 12
