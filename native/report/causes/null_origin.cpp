#include "report/causes/null_origin.h"

#include <optional>
#include <utility>

#include "arguments/frame_values.h"
#include "base/hex.h"
#include "report/form/file_display.h"

namespace whocall {
namespace {

using OriginKind = ValueOrigin::Kind;

// What frames and addresses are called.
class Names {
 public:
  explicit Names(const Scene& scene) : scene_(scene) {}

  // "#2": of the function itself, where calls are inlined in it; empty for none that is shown.
  [[nodiscard]] std::string frame(std::size_t index) const {
    const NamedWalk& walk = scene_.walk();
    for (std::size_t level = 0; level < walk.size(); ++level) {
      if (walk[level].frame == &walk.frames()[index] && !walk[level].inlined()) {
        return "#" + std::to_string(level);
      }
    }
    return {};
  }

  // The function that a call went to: the name by which it was called rather than one of its own.
  [[nodiscard]] std::string function(std::optional<Address> called) const {
    constexpr std::string_view kStub = "@plt";
    std::string name = called ? beginning_at(*called) : std::string();
    if (called && name.empty()) {
      const auto& judge = scene_.values()->walker().judge();
      const auto target = judge.final_target({.target = called});
      name = target ? beginning_at(*target) : std::string();
    }
    if (name.ends_with(kStub)) {
      name.resize(name.size() - kStub.size());
    }
    return name.empty() ? "a function" : name;
  }

 private:
  [[nodiscard]] std::string beginning_at(Address runtime) const {
    const Place& place = scene_.values()->walker().symbolizer().describe(runtime, {});
    if (!place.function || place.module == nullptr ||
        place.module->runtime_address(place.function->start) != runtime) {
      return {};
    }
    return place.function->name + (is_inferred(place.function->source) ? "?" : "");
  }

  const Scene& scene_;
};

// "0x404040 of shop", and what is there, where that is no null pointer any more.
std::string place_of_null(const Scene& scene, std::optional<Address> address) {
  if (!address) {
    return "memory";
  }
  const Mapping* const mapping = scene.image().mapping_at(*address);
  std::string text = hex(*address);
  if (mapping != nullptr && !mapping->path.empty()) {
    (text += " of ") += last_part(mapping->path);
  }
  const auto now = scene.word_at(*address);
  return now && *now != 0 ? text + ", where " + hex(*now) + " is now" : text;
}

std::string words(const Scene& scene, std::size_t first, const ValueOrigin& origin) {
  const Names names(scene);
  const std::string holder = names.frame(first);
  const std::string from = names.frame(origin.frame);
  if (holder.empty() || from.empty()) {
    return {};
  }
  const bool is_own = origin.frame == first;
  std::string handed = ", which " + holder + " got from " + from;
  switch (origin.kind) {
    case OriginKind::handed_over:
      return handed;
    case OriginKind::constant:
      return is_own ? ", a constant in the code of " + from : handed + ", a constant there";
    case OriginKind::returned:
      return is_own ? ", which " + names.function(origin.called) + " returned to " + from
                    : handed + ", to which " + names.function(origin.called) + " returned it";
    case OriginKind::loaded:
      return (is_own ? ", which " + from + " read" : handed + ", which read it") + " from " +
             place_of_null(scene, origin.address);
  }
  return {};
}

// Null where nobody asks for values, or frames are too few.
std::optional<FrameValues> values_of(const Scene& scene, std::size_t count) {
  return scene.values() != nullptr && scene.values()->usable() &&
                 scene.walk().frames().size() >= count
             ? std::optional<FrameValues>(std::in_place, *scene.values(), scene.thread(),
                                          scene.walk().frames(), count)
             : std::nullopt;
}

}  // namespace

std::string null_origin(const Scene& scene, std::string_view reg) {
  const auto number = scene.arch().register_named(reg);
  auto values = number ? values_of(scene, 1) : std::nullopt;
  const auto origin = values ? values->origin(0, *number) : std::nullopt;
  return origin ? words(scene, 0, *origin) : std::string();
}

CalledPointer called_pointer(const Scene& scene) {
  constexpr std::size_t kCaller = 1;
  auto values = values_of(scene, kCaller + 1);
  const auto target = values ? values->target(kCaller) : std::nullopt;
  if (!target) {
    return {};
  }
  if (scene.without_mode(target->value) != scene.pc()) {
    return {.led_elsewhere = !target->now};
  }
  const auto origin = values->origin_of_target(kCaller);
  return {.origin = origin ? words(scene, kCaller, *origin) : std::string()};
}

}  // namespace whocall
