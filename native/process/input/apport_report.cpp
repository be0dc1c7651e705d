#include "process/input/apport_report.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text_lines.h"

namespace whocall {
namespace {

constexpr std::size_t kReportPiece = std::size_t{1} << 18U;  // bytes read at once
constexpr std::string_view kCoreKey = "CoreDump";
constexpr std::string_view kIsBinary = "base64";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> base64_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t value = 0; value < kBase64Digits.size(); ++value) {
    values[static_cast<unsigned char>(kBase64Digits[value])] = static_cast<std::uint8_t>(value);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kBase64Values = base64_values();

constexpr bool is_blank(unsigned character) { return character == ' ' || character == '\t'; }

}  // namespace

ApportReport::ApportReport(ByteSource& report, const std::string& name)
    : report_(report), buffer_(kReportPiece) {
  if (read_fields()) {
    return;
  }
  if (const std::string why = report_.damage(); !why.empty()) {
    throw Error(name, "cannot be unpacked: " + why, "Copy it anew, or unpack it by hand");
  }
  if (barren_ > kMostBarren) {
    throw Error(name, "holds no core dump in its first 256 MiB", "Take the core out of it by hand");
  }
  const auto type =
      std::ranges::find(fields_, "ProblemType", &std::pair<std::string, std::string>::first);
  const bool is_told = type != fields_.end() && !type->second.empty();
  throw Error(name,
              "holds no core dump: it is a report of type " + (is_told ? type->second : "unknown"),
              "Only reports of crashed programs have one");
}

// True where there is something to take.
bool ApportReport::refill() {
  if (begin_ == end_ && barren_ <= kMostBarren) {
    check_interrupt();
    begin_ = 0;
    end_ = report_.read(buffer_);
    barren_ += end_;
  }
  return begin_ != end_;
}

// Of a very long line the beginning; a miss at the end.
std::optional<std::string> ApportReport::take_line() {
  std::optional<std::string> line;
  while (refill()) {
    const std::string_view rest = as_text(std::span(buffer_).subspan(begin_, end_ - begin_));
    const std::string_view part = rest.substr(0, rest.find('\n'));
    if (!line) {
      line.emplace();
    }
    line->append(part.substr(0, kLongestField - std::min(kLongestField, line->size())));
    begin_ += std::min(part.size() + 1, rest.size());
    if (part.size() < rest.size()) {
      break;
    }
  }
  return line;
}

// There may be hundreds of millions of them.
void ApportReport::skip_empty_lines() {
  while (refill()) {
    const std::string_view rest = as_text(std::span(buffer_).subspan(begin_, end_ - begin_));
    const std::size_t empty = std::min(rest.find_first_not_of('\n'), rest.size());
    begin_ += empty;
    if (empty < rest.size()) {
      return;
    }
  }
}

// Up to the core; false where there is none.
bool ApportReport::read_fields() {
  while (const auto line = barren_ <= kMostBarren ? take_line() : std::nullopt) {
    if (line->empty()) {
      open_field_.reset();
      skip_empty_lines();
      continue;
    }
    if (is_blank(static_cast<unsigned char>(line->front()))) {
      go_on(line->substr(1));
      continue;
    }
    const std::size_t colon = line->find(':');
    const std::string key = line->substr(0, colon);
    const std::string_view value =
        colon == std::string::npos ? "" : trimmed(std::string_view(*line).substr(colon + 1));
    if (key == kCoreKey && value == kIsBinary) {
      return true;
    }
    keep(key, value);
  }
  return false;
}

void ApportReport::keep(const std::string& key, std::string_view value) {
  open_field_.reset();
  if (value == kIsBinary || fields_.size() == kMostFields) {
    return;
  }
  const auto found = std::ranges::find(fields_, key, &std::pair<std::string, std::string>::first);
  open_field_ = static_cast<std::size_t>(found - fields_.begin());
  if (found == fields_.end()) {
    fields_.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

void ApportReport::go_on(std::string_view line) {
  if (!open_field_) {
    return;
  }
  std::string& value = fields_[*open_field_].second;
  if (value.size() < kLongestField) {
    value.append(value.empty() ? "" : "\n");
    value.append(line.substr(0, kLongestField - value.size()));
  }
}

void ApportReport::end_with(std::string damage) {
  damage_ = std::move(damage);
  ended_ = true;
}

std::size_t ApportReport::read(std::span<std::byte> room) {
  std::byte* made = room.data();
  const std::byte* const end = room.data() + room.size();
  const std::byte* told = made;
  while (!ended_ && made != end) {
    barren_ = made == told ? barren_ : 0;
    told = made;
    if (barren_ > kMostBarren) {
      end_with("256 MiB of it hold nothing");
    } else if (!refill()) {
      const std::string why = report_.damage();
      end_with(why.empty() && in_line_ && digits_ % 4 != 0 ? "it ends in the middle" : why);
    } else if (!in_line_) {
      in_line_ = enter_line();
    } else {
      take_groups(made, end);
      if (made != end && begin_ != end_ && !take_character(made)) {
        end_with("a line of the core is not base64");
      }
    }
  }
  return static_cast<std::size_t>(made - room.data());
}

// A line of the core begins with a blank; what follows the core is of no use any more.
bool ApportReport::enter_line() {
  if (!is_blank(std::to_integer<unsigned>(buffer_[begin_++]))) {
    end_with("");
    return false;
  }
  digits_ = 0;
  filled_up_ = false;
  return true;
}

// Whole groups, which nearly all are.
void ApportReport::take_groups(std::byte*& made, const std::byte* end) {
  const auto value = [&](std::size_t at) {
    return std::uint32_t{kBase64Values[std::to_integer<std::size_t>(buffer_[begin_ + at])]};
  };
  while (digits_ % 4 == 0 && !filled_up_ && end_ - begin_ >= 4 && end - made >= 3) {
    const std::array values{value(0), value(1), value(2), value(3)};
    if ((values[0] | values[1] | values[2] | values[3]) == kNoDigit) {
      return;
    }
    const std::uint32_t group = values[0] << 18U | values[1] << 12U | values[2] << 6U | values[3];
    *made++ = static_cast<std::byte>(group >> 16U);
    *made++ = static_cast<std::byte>(group >> 8U);
    *made++ = static_cast<std::byte>(group);
    begin_ += 4;
  }
}

// What does not come in whole groups. False where it has no place there.
bool ApportReport::take_character(std::byte*& made) {
  const auto character = std::to_integer<unsigned>(buffer_[begin_++]);
  if (character == '\n') {
    in_line_ = false;
    return digits_ % 4 == 0;
  }
  if (character == '\r' || is_blank(character)) {
    return true;
  }
  const unsigned place = digits_++ % 4;
  if (character == '=') {
    const bool fits = filled_up_ || place >= 2;
    filled_up_ = true;
    return fits && place != 0;
  }
  const unsigned value = kBase64Values[character];
  if (value == kNoDigit || filled_up_) {
    return false;
  }
  bits_ = place == 0 ? value : bits_ << 6U | value;
  if (place != 0) {
    *made++ = static_cast<std::byte>(bits_ >> (6 - 2 * place));
  }
  return true;
}

}  // namespace whocall
