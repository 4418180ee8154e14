"use strict";
// Everything works without this file: it adds shortcuts, keeps the opened row in the address, and takes dropped files.

const rows = () => [...document.querySelectorAll("details.row > summary, details.verdict > summary")];

function move(step) {
  const all = rows();
  if (!all.length) return;
  const here = all.indexOf(document.activeElement);
  const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + step));
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

function current() {
  return document.activeElement?.closest("details") ?? document.querySelector("details.row[open]");
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  Enter: () => { const row = current(); if (row) row.open = !row.open; else move(1); },
  Escape: () => {
    const row = current();
    if (row) { row.open = false; row.querySelector("summary").focus(); } else document.activeElement?.blur();
  },
  "/": () => document.getElementById("find")?.focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape" && typing) { typing.blur(); return; }
  // A summary, a link and a button answer to Enter by themselves.
  // A key that is held down goes through rows, but does not open and close what it stands on.
  if (event.repeat && event.key !== "j" && event.key !== "k") return;
  if (typing || !(event.key in actions) || (event.key === "Enter" && event.target.closest?.("summary, a, button"))) return;
  event.preventDefault();
  actions[event.key]();
});

// Votes by their numbers. A key that is still held down from the pair before is no vote on this one.
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  document.querySelector(`button[data-vote="${CSS.escape(event.key)}"]`)?.click();
});

// What counts once is sent once, and its buttons show it. They are disabled after the form was read: the one that was
// pressed is a part of it. A page that comes back as it was can be used again.
for (const form of document.querySelectorAll("form[data-once]")) {
  let sent = false;
  const buttons = [...form.querySelectorAll("button:not([disabled])")];
  const set = (value) => {
    sent = value;
    for (const button of buttons) button.disabled = value;
  };
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
    setTimeout(() => set(true));
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) set(false); });
}

const keys = document.querySelector(".keys");
if (keys && (rows().length)) {
  keys.hidden = false;
  keys.addEventListener("pointerdown", (event) => event.preventDefault());
  keys.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) actions[button.dataset.key]();
  });
}

// The page that one is on is in sight in a menu that slides.
const here = document.querySelector(".menu [aria-current]");
if (here) here.parentElement.scrollLeft = here.offsetLeft - (here.parentElement.clientWidth - here.clientWidth) / 2;

// What is not asked for does not stand in the address.
for (const form of document.querySelectorAll("form.filters, form.find")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
  });
}

// The row that was opened last is in the address, so that a link shows what its sender saw.
document.addEventListener("toggle", (event) => {
  const row = event.target;
  if (!row.matches?.("details.row[data-turn]")) return;
  const address = new URL(location.href);
  if (row.open) address.searchParams.set("open", row.dataset.turn);
  else if (address.searchParams.get("open") === row.dataset.turn) address.searchParams.delete("open");
  history.replaceState(null, "", address);
}, true);

const drop = document.querySelector(".drop");
if (drop) {
  const file = drop.querySelector("input[type=file]");
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) file.files = event.dataTransfer.files;
    });
  }
}

// A file that is too large is said to be so before it is sent.
const upload = document.querySelector("form[data-limit]");
if (upload) {
  upload.addEventListener("submit", (event) => {
    const [file] = upload.querySelector("input[type=file]").files;
    const tooLarge = Boolean(file) && file.size > Number(upload.dataset.limit) * 1024 * 1024;
    upload.querySelector("[data-too-large]").hidden = !tooLarge;
    if (tooLarge) event.preventDefault();
  });
}
