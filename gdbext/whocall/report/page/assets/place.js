// Where the reader is: crash, thread, frame, address; kept behind the # of the address bar.
const place = { crash: 0, thread: 0, level: 0, address: null };
const watchers = [];
let placed = false; // whether anybody has heard
const onPlace = (watcher) => watchers.push(watcher);

function hashOf(changes) {
  const next = { ...place, address: null, ...changes };
  const address = next.address ? `/a${next.address}` : "";
  return `#c${next.crash}/t${next.thread}/f${next.level}${address}`;
}

function go(changes) {
  const hash = hashOf(changes);
  if (location.hash === hash) follow();
  else location.hash = hash;
}

// Reads the address bar and tells everyone what changed.
function follow() {
  const told = /^#c(\d+)\/t(\d+)\/f(\d+)(?:\/a(0x[0-9a-f]+))?$/.exec(location.hash);
  const before = { ...place };
  if (told) {
    place.crash = Math.min(Number(told[1]), data.crashes.length - 1);
    const crash = data.crashes[place.crash];
    place.thread = Math.min(Number(told[2]), crash.threads.length - 1);
    const frames = crash.stacks[crash.threads[place.thread].stack].frames;
    place.level = Math.min(Number(told[3]), Math.max(frames.length - 1, 0));
    place.address = told[4] || null;
  } else if (location.hash.length > 1 && placed) {
    return; // a part of the page
  } else {
    const thread = data.crashes[0].main;
    Object.assign(place, { crash: 0, thread, level: crashes[0].first(thread), address: null });
  }
  placed = true;
  for (const watcher of watchers) watcher(before);
}
