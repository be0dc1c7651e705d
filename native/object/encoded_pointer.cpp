#include "object/encoded_pointer.h"

#include "object/byte_span.h"

namespace whocall {

std::optional<Address> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                            const PointerBases& bases) {
  if (!reader.ok()) {
    return std::nullopt;
  }
  rules::ByteCursor cursor(span_of(reader.view(), bases.section), reader.offset());
  Address value = 0;
  const bool read =
      rules::read_pointer(cursor, encoding, {bases.text, bases.data, bases.pointer_size}, value);
  // Behind its end where the bytes do: the reader then has failed.
  reader.skip(cursor.ok() ? cursor.place() - reader.offset() : reader.remaining() + 1);
  return read ? std::optional(value) : std::nullopt;
}

}  // namespace whocall
