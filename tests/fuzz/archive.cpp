// Hostile static libraries: one is refused by Error, or its members lie inside it and signatures
// are made of them or refused.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "object/archive.h"
#include "symbols/signatures/signature_builder.h"
#include "symbols/signatures/signature_file.h"

namespace {

using namespace whocall;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch scratch;
  fuzz::Input input(data, size);
  if (!scratch.write(input.rest())) {
    return 0;
  }
  try {
    const Archive archive(scratch.path());
    std::size_t all = 0;
    for (const ArchiveMember& member : archive.members()) {
      all += member.contents.size();
    }
    fuzz::demand(all <= size);
  } catch (const Error&) {  // no archive
    return 0;
  }
  try {
    const BuiltSignatures built = build_signatures({scratch.path()});
    const auto bytes = encode_signatures(built.set);
    (void)decode_signatures(ByteView(bytes, Endian::little), "made");
  } catch (const Error&) {  // no code in it
  }
  return 0;
}
