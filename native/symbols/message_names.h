// Names that functions say of themselves: what they pass to their own failed assertions.
#pragma once

#include "symbols/inferred_names.h"

namespace whocall {

// A function that passes one name, which no other function passes or is known by, has that name,
// if it passes it early: at most kMostBranches decisions and one call after its beginning.
//
// Folklore. Situation: a function that was inlined passes its name in the body of its caller.
// Example: GLib's g_dbus_menu_model_finalize, which checks nothing itself, holds the assertion of
// the static g_dbus_menu_group_deactivate. Remedy: what is inlined in two places, beside the
// caller's own name, or into a function whose symbol tells better, betrays itself. A single one
// does not; but most functions check their arguments first, and most inlined ones come later. Of
// 9,700 names in 22 libraries of a distribution the first rule leaves 1.3 % wrong, both 0.5 %.
void infer_message_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
