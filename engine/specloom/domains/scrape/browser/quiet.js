// Resolves once nothing changed for `quiet` milliseconds, or after `most`.
([quiet, most]) => new Promise(resolve => {
  let timer = setTimeout(done, quiet);
  const watcher = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); });
  function done() { watcher.disconnect(); resolve(true); }
  watcher.observe(document, {childList: true, subtree: true, characterData: true});
  setTimeout(done, most);
})
