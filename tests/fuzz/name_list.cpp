// Hostile lists of names: linker maps, nm, dumps, Breakpad, tables and JSON. A reader takes any
// text, and what it gives points into the text or its own strings. The first byte chooses the
// reader; at 0 the text is a file of which nobody says the format.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "object/call_frame_info.h"
#include "symbols/external/breakpad_frames.h"
#include "symbols/external/list_base.h"
#include "symbols/external/list_formats.h"
#include "symbols/external/list_table.h"
#include "symbols/external/name_file.h"
#include "symbols/external/name_rows.h"
#include "symbols/external/symbol_files.h"
#include "unwind/rows/fde_rows.h"

namespace {

using namespace whocall;

// Touches every byte of what was read.
void use(const ListedNames& list) {
  std::size_t sum = 0;
  for (const ListedName& each : list.names) {
    for (const char letter : each.name) {
      sum += static_cast<unsigned char>(letter);
    }
    sum += is_made_up(each.name, each.address) ? 1 : 0;
  }
  if (list.lines != nullptr && !list.names.empty()) {
    sum += list.lines->lines_at(list.names.front().address).size();
  }
  const Address known[] = {0x1000, 0x1040, 0x2000};
  const AddressRange code[] = {{0x1000, 0x3000}};
  (void)find_base(list.names, known, code);
  volatile std::size_t kept = sum;
  (void)kept;
}

void read_file(std::span<const std::byte> bytes) {
  static const fuzz::Scratch scratch;
  if (!scratch.write(bytes)) {
    return;
  }
  try {
    (void)examine_name_file(scratch.path());
    use(read_name_file(scratch.path()));
  } catch (const Error&) {  // of no format that we know, or damaged
  }
  try {
    if (const auto table = table_from_breakpad(scratch.path())) {
      for (const Symbol& symbol : table->table->symbols()) {
        (void)table->lines_at(symbol.range.begin);
      }
    }
  } catch (const Error&) {  // a Breakpad file that cannot be used
  }
}

// Whatever the records are, what is made of them is a table that the reader of tables takes.
void read_rows(std::string_view text) {
  for (const Architecture* arch : architectures()) {
    const auto rows = debug_frame_of_breakpad(text, 0x1000, *arch);
    const ByteView bytes(rows, arch->abi.endian);
    const CallFrameInfo info(FrameFormat::debug_frame, {bytes, 0}, std::nullopt,
                             arch->abi.pointer_size);
    info.for_each([](const Fde& fde) { (void)compile(fde); });
  }
}

void read_as(unsigned kind, std::string_view text) {
  ListedNames list;
  switch (kind) {
    case 1:
      read_gnu_map(text, list);
      break;
    case 2:
      read_lld_map(text, list);
      break;
    case 3:
      read_nm_text(text, list);
      (void)is_nm_row(text);
      break;
    case 4:
      read_symbol_dump(text, list);
      break;
    case 5:
      read_breakpad(text, list);
      read_rows(text);
      break;
    case 6:
      read_name_csv(text, list);
      (void)is_csv_heading(text);
      break;
    default:
      (void)read_name_json(text, list);
      (void)parse_symbol_file(std::string(text.substr(0, 200)));
      (void)breakpad_id(text);
  }
  use(list);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte() % 8;
  const std::vector<std::byte> own = input.copy();
  if (kind == 0) {
    read_file(own);
  } else {
    read_as(kind, {reinterpret_cast<const char*>(own.data()), own.size()});
  }
  return 0;
}
