// Names that functions say of themselves: what they pass to their own failed assertions.
#pragma once

#include "symbols/inferred/inferred_name.h"

namespace whocall {

// A function that passes one name, which no other function passes or is known by, has that name,
// if it passes it early: one decision and no call after its beginning, or two decisions and a call
// in files where most functions report failures.
//
// Folklore. Situation: a function that was inlined passes its name in the body of its caller.
// Example: GLib's g_dbus_menu_model_finalize, which checks nothing itself, holds the assertion of
// the static g_dbus_menu_group_deactivate. Remedy: what is inlined in two places, beside the
// caller's own name, or into a function whose symbol tells better, betrays itself. A single one
// does not; but most functions check their arguments first, most inlined ones come later, and where
// most functions report, so does the caller. In 15 libraries of a distribution, with nothing
// exported, 22 of 5,202 names are wrong; where the whole body is another function, inlined, nothing
// betrays it.
void infer_message_names(const NameEvidence& evidence, std::vector<InferredName>& names);

}  // namespace whocall
