// Where in the source a frame may be, as its function's own code tells.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/inferred/function_traits.h"
#include "symbols/source_places.h"
#include "unwind/walk/named_frames.h"

namespace whocall {

// Whether a frame is where its code says: not where the call there led to another function than the
// one below.
bool stands_at_its_place(const NamedFrame& frame);

// The places that the function of a frame names; none where a line is known, and where the frame
// does not stand at its place.
std::vector<SourceHint> source_hints(const NamedFrame& frame);
// The same at a place of a file, whatever the frame.
std::vector<SourceHint> source_hints(const FilePlace& place,
                                     const std::shared_ptr<const ElfFile>& file);

// " near src/exec.rs:12?" without the words around it: the path as text has it, and the line; both
// empty where nothing is near.
struct NearPlace {
  std::string file;
  std::string line;
};
// Of each frame that stands there.
NearPlace near_place_of(const Place& place);

// What tells of a function that nothing names; looks through all code of the file.
FunctionTraits traits_of(const FilePlace& place, const std::shared_ptr<const ElfFile>& file);
// The same of a frame's function in whole sentences; empty where there is nothing to say.
std::string traits_in_words(const NamedFrame& frame);

}  // namespace whocall
