#include "report/threads_json.h"

#include "report/form/json_members.h"
#include "report/form/text_block.h"
#include "report/happened.h"

namespace whocall {

bool ThreadsJson::append_block(std::string& text) {
  while (text.size() < kTextBlock && next_ < traces_.size()) {
    const ThreadTrace& trace = traces_[next_];
    if (!inside_) {
      begin(text, trace);
      inside_ = true;
    }
    frame_ = frames_.append(text, trace, frame_);
    if (frame_ >= trace.shown.count) {
      end(text, trace);
      frame_ = 0;
      inside_ = false;
      ++next_;
    }
  }
  return !text.empty();
}

// Up to the bracket that opens its frames.
void ThreadsJson::begin(std::string& text, const ThreadTrace& trace) const {
  const Thread& thread = *trace.thread;
  (text += next_ == 0 ? "\n" : ",\n").append(margin_, ' ');
  JsonMembers members(text, margin_);
  members.integer("number", trace.head.number);
  members.integer("lwp", thread.lwp);
  members.string("name", thread.name);
  members.truth("crashed", trace.head.crashed);
  members.string("signal", trace.head.signal);
  if (tells_happened_) {
    add_happened(members, text, trace, last_words_);
  }
  members.name("frames");
  text += '[';
}

void ThreadsJson::end(std::string& text, const ThreadTrace& trace) const {
  if (trace.shown.count != 0) {
    (text += '\n').append(margin_ + 1, ' ');
  }
  (text += "],\n").append(margin_ + 1, ' ') += "\"stop\": ";
  JsonMembers stop(text, margin_ + 1);
  stop.string("reason", to_string(trace.stop.reason));
  stop.string("detail", trace.stop.detail);
  stop.close();
  (text += '\n').append(margin_, ' ') += '}';
}

}  // namespace whocall
