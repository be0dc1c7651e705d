#include "report/form/named_walk.h"

#include <algorithm>
#include <iterator>

#include "base/hex.h"
#include "report/form/source_hints.h"
#include "symbols/table/demangler.h"

namespace whocall {
namespace {

// Equal functions may have been folded into one, and one function may have several names.
std::string other_names(const std::vector<std::string>& aliases) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(aliases.size(), kMost); ++i) {
    text += (i == 0 ? " The same code is also named " : ", ") + demangle(aliases[i]);
  }
  if (aliases.size() > kMost) {
    text += " and " + std::to_string(aliases.size() - kMost) + " times more";
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

NamedWalk::NamedWalk(Backtrace walked, Symbolizer& symbolizer, NamingOptions options,
                     bool lines_past_main)
    : backtrace_(std::move(walked)),
      named_(name_frames(backtrace_, symbolizer, options, lines_past_main)) {
  for (const NamedFrame& frame : named_) {
    if (frame.frame->trust == Trust::scan) {
      searched_.push_back(frame.level);
    }
  }
}

const FrameDetails* NamedWalk::details(const NamedFrame& named) const {
  const auto index = static_cast<std::size_t>(named.frame - backtrace_.frames.data());
  return index < backtrace_.details.size() ? &backtrace_.details[index] : nullptr;
}

std::optional<std::size_t> NamedWalk::rests_on(std::size_t index) const {
  if (searched_.empty()) {
    return std::nullopt;
  }
  while (index > 0 && named_[index - 1].inlined()) {
    --index;
  }
  const auto next = std::ranges::lower_bound(searched_, index);
  return next != searched_.begin() ? std::optional(*std::prev(next)) : std::nullopt;
}

std::optional<Address> FrameFacts::cfa() const {
  return frame().cfa != 0 ? std::optional(frame().cfa) : std::nullopt;
}

std::string_view FrameFacts::module() const {
  const Module* module = place().module;
  return module != nullptr ? std::string_view(module->path) : std::string_view();
}

std::string_view FrameFacts::build_id() const {
  const Module* module = place().module;
  return module != nullptr ? std::string_view(module->build_id()) : std::string_view();
}

std::optional<Address> FrameFacts::rva() const {
  const Module* module = place().module;
  return module != nullptr ? std::optional(module->link_address(frame().pc)) : std::nullopt;
}

std::optional<Address> FrameFacts::offset() const {
  const auto& function = place().function;
  // Code without a module stands at runtime addresses.
  return function ? std::optional(rva().value_or(frame().pc) - function->start) : std::nullopt;
}

std::string_view FrameFacts::name_source() const {
  const auto& function = place().function;
  if (named_->inlined() || (!function && !named_->function().empty())) {
    return "debug-info";
  }
  return function ? to_string(function->source) : std::string_view();
}

bool FrameFacts::inferred() const {
  const auto& function = place().function;
  return !named_->inlined() && function && is_inferred(function->source);
}

const std::vector<std::string>& FrameFacts::aliases() const {
  static const std::vector<std::string> kNone;
  const auto& function = place().function;
  return function && !named_->inlined() ? function->aliases : kNone;
}

std::optional<Address> FrameFacts::searched() const {
  if (index_ == 0 || frame().trust != Trust::scan ||
      frame().evidence.has(Evidence::call_elsewhere) || (*walk_)[index_ - 1].inlined()) {
    return std::nullopt;
  }
  std::size_t outside = index_ - 1;  // behind the frame below that one
  while (outside > 0 && (*walk_)[outside - 1].inlined()) {
    --outside;
  }
  const auto begin =
      outside == 0 ? std::optional((*walk_)[0].frame->sp) : FrameFacts(*walk_, outside - 1).cfa();
  const auto end = FrameFacts(*walk_, index_ - 1).cfa();
  return begin && end && *end >= *begin ? std::optional(*end - *begin) : std::nullopt;
}

std::string FrameFacts::explanation() const {
  if (details() == nullptr || details()->explanation.empty() || named_->inlined()) {
    return {};
  }
  std::string text = details()->explanation;
  const auto& function = place().function;
  if (function && !function->proof.empty()) {
    text += " The name is by " + function->proof + ".";
  }
  if (function) {
    text += other_names(function->aliases);
  }
  text += traits_in_words(*named_);
  if (const auto& refused = place().refused) {
    text += " The nearest symbol, " + refused->name + " (" +
            std::string(to_string(refused->source)) + ") at " + hex(refused->start) +
            ", is not its name: " + refused->reason + ".";
  }
  return text;
}

}  // namespace whocall
