// Hostile packed sections: what is unpacked is of the size that was stated and under the caps. Of
// .xz the core asks liblzma and libwhocall its own decoder, which knows less and may not differ.
// The first byte chooses the form.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/budget.h"
#include "fuzz.h"
#include "object/elf_decompress.h"
#include "object/xz.h"
#include "runtime/xz.h"

namespace {

using namespace whocall;

constexpr std::uint64_t kMost = std::uint64_t{16} << 20U;  // bytes: more costs the fuzzer too much

void check(const std::optional<OwnedBytes>& made, std::size_t packed) {
  fuzz::demand(!made || made->size <= std::max(kSmallSection, kLargestRatio * packed));
}

void unpack_twice(const std::vector<std::byte>& bytes) {
  const auto made = unpack_xz(ByteView(bytes, Endian::little), kMost);
  const runtime::Unpacked own = runtime::unpack_xz(bytes.data(), bytes.size());
  if (made && own.bytes != nullptr) {
    fuzz::demand(made->size() == own.size && std::equal(made->begin(), made->end(), own.bytes));
  }
  if (own.bytes != nullptr) {
    munmap(const_cast<std::byte*>(own.bytes), own.size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte() % 5;
  const std::vector<std::byte> own = input.copy();
  Budget budget("input", own.size());
  const ByteView view(own, kind % 2 == 0 ? Endian::little : Endian::big);
  if (kind < 3) {
    check(decompress_section(view, kind == 2 ? 4 : 8, budget), own.size());
  } else if (kind == 3) {
    check(decompress_zdebug(view, budget), own.size());
  } else {
    unpack_twice(own);
  }
  return 0;
}
