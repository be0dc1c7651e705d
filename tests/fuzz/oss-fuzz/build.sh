#!/bin/bash -eu
# OSS-Fuzz calls this with its compiler, its flags and its engine: all targets go to $OUT, each with
# its seeds and its dictionary.
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DWHOCALL_FUZZERS=ON \
  -DWHOCALL_FUZZER_ENGINE="$LIB_FUZZING_ENGINE" -DWHOCALL_PYTHON=OFF -DWHOCALL_TESTS=OFF \
  -DWHOCALL_WERROR=OFF -DWHOCALL_PRECOMPILE=OFF
cmake --build "$WORK/build"
CC=gcc tests/fuzz/make_seeds "$WORK/seeds"
for source in tests/fuzz/*.cpp; do
  name=$(basename "$source" .cpp)
  cp "$WORK/build/whocall_fuzz_$name" "$OUT/"
  zip -qj "$OUT/whocall_fuzz_${name}_seed_corpus.zip" "$WORK/seeds/$name"/*
  dictionary=tests/fuzz/dictionaries/$name.dict
  [ ! -e "$dictionary" ] || cp "$dictionary" "$OUT/whocall_fuzz_$name.dict"
done
