#include "rules/frame_tables.h"

#include "rules/frame_header.h"

namespace whocall::rules {

bool find_description(const FrameTables& tables, std::uint64_t address, WholeDescription& found) {
  const FrameHeader header(tables.mapped.part(tables.header, ~std::uint64_t{0}), tables.word_size);
  std::uint64_t place = 0;
  return header.find(address, place) &&
         read_description({.bytes = tables.mapped, .word_size = tables.word_size},
                          place - tables.mapped.begin, found) &&
         address >= found.fde.begin && address < found.fde.end;
}

}  // namespace whocall::rules
