// How many characters there are to read, shadow roots and frames without an address included; counted up to `most`.
most => {
  const count = root => {
    let size = root.body ? root.body.innerText.trim().length : root.textContent.trim().length;
    for (const element of root.querySelectorAll("*")) {
      if (size > most) break;
      if (element.shadowRoot) size += count(element.shadowRoot);
      else if (element instanceof HTMLIFrameElement && element.contentDocument) size += count(element.contentDocument);
    }
    return size;
  };
  return document.body ? count(document) : 0;
}
