// Faults that prevent people from reading the page: low contrast, duplicate ids, missing ids.
// Returns a list of sentences.
(() => {
  const channels = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = channels(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('.visually-hidden')) continue;
    const [one, other] = [light(channels(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) faults.push(`${walker.currentNode.data.trim()} (${element.className}): ${ratio.toFixed(2)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  faults.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `two #${id}`));
  for (const element of document.querySelectorAll('[aria-controls], [aria-describedby]')) {
    for (const name of ['aria-controls', 'aria-describedby']) {
      const id = element.getAttribute(name);
      if (id && !document.getElementById(id)) faults.push(`${name} of nothing: ${id}`);
    }
  }
  return [...new Set(faults)];
})()
