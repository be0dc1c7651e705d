// Crash reports of apport (`/var/crash/*.crash`), in the format of Debian's control files.
//
// A field is `Key: value`, or `Key:` with lines behind it that begin with a blank. Of a binary
// field the value is the word `base64`; each line behind it is a piece of one stream of gzip or
// zstd, encoded by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packing/byte_source.h"

namespace whocall {

inline constexpr std::size_t kLongestField = std::size_t{1} << 16U;  // bytes that are kept of one
inline constexpr std::size_t kMostFields = 256;                      // that are kept
// Read without anything to keep: before the core, or in lines of it that hold nothing. What is
// packed in a few hundred kilobytes may have any number of empty lines.
inline constexpr std::uint64_t kMostBarren = std::uint64_t{256} << 20U;  // bytes

// The packed core in a report.
class ApportReport final : public ByteSource {
 public:
  // Reads up to the core; `report` has to live as long as this. Throws Error, which calls it
  // `name`, where there is no core in it.
  ApportReport(ByteSource& report, const std::string& name);

  std::size_t read(std::span<std::byte> room) override;
  [[nodiscard]] std::string damage() const override { return damage_; }

  // Key and value of those before the core, as they come.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const {
    return fields_;
  }

 private:
  bool refill();
  std::optional<std::string> take_line();
  void skip_empty_lines();
  bool read_fields();
  void keep(const std::string& key, std::string_view value);
  void go_on(std::string_view line);
  bool enter_line();
  bool take_character(std::byte*& made);
  void take_groups(std::byte*& made, const std::byte* end);
  void end_with(std::string damage);

  ByteSource& report_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // of what was not taken, in the buffer
  std::size_t end_ = 0;
  std::uint64_t barren_ = 0;  // bytes read since something came of it
  std::vector<std::pair<std::string, std::string>> fields_;
  std::optional<std::size_t> open_field_;  // whose value may go on
  bool in_line_ = false;                   // of the core
  unsigned digits_ = 0;                    // of the present group of four, fillers among them
  unsigned bits_ = 0;                      // what they stand for
  bool filled_up_ = false;                 // with fillers: nothing comes behind those
  bool ended_ = false;
  std::string damage_;
};

}  // namespace whocall
