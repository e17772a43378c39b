// Zooms the image of a file in time. It relies on the elements that svg.rs and document.rs write.
const svg = document.querySelector("svg");
const rows = svg.querySelector("[aria-label=Rows]");
// Paths of marks: triangle; diamond; disc; square and line.
const MARK = /^M[-\d. ]+(L[-\d. ]+H[-\d.]+|(L[-\d. ]+){3}|(A[-\d. ]+){2}|H[-\d.]+V[-\d.]+H[-\d.]+V[-\d.]+)Z$/;
const { from, span } = document.body.dataset;
const muted = svg.querySelectorAll(":scope > text")[1]?.getAttribute("fill");
if (muted) document.querySelector("p").style.color = muted;

const make = (name, attributes, text = "") => {
  const element = document.createElementNS(svg.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};

// The place of the rows in the image.
function areaOfRows() {
  const { e: left, f: top } = rows.transform.baseVal[0].matrix;
  const frame = svg.querySelector("clipPath rect");
  const [width, height] = ["width", "height"].map((name) => Number(frame.getAttribute(name)));
  return { left, top, width, height };
}

// Removes the ruler of the file. Returns a function that draws the ruler of a visible part.
function createRuler({ left, top, width, height }) {
  const [start, whole] = [BigInt(from), Number(span)];
  const texts = [...svg.querySelectorAll(":scope > text")];
  const y = (text) => Number(text.getAttribute("y"));
  const [duration, dates] = texts.filter((text) => y(text) < top - 20 && text.getAttribute("text-anchor") === "end");
  const ticks = make("g", {});
  const grid = svg.querySelector(":scope > line")?.getAttribute("stroke") ?? "#888";
  for (const old of [
    ...svg.querySelectorAll(":scope > line"),
    ...texts.filter((text) => [12, 26].some((above) => Math.abs(y(text) - top + above) < 0.1)),
  ])
    old.remove();
  rows.before(ticks);

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "11px Inter, Arial, sans-serif";
  const measure = (text) => pen.measureText(text).width;

  return ({ a, b }) => {
    const [first, span] = [a * whole, (b - a) * whole];
    const { base, ticks: axisTicks } = placeTicks(width, measure, (spacing) =>
      timeTicks(start, first, first + span, width, spacing),
    );
    const marks = [];
    const text = { y: top - 12, "font-size": 11, fill: muted };
    // The base of the ruler is left of it, or above it if there is not enough space.
    if (base)
      marks.push(
        make(
          "text",
          measure(base) <= left - 24
            ? { ...text, x: left - 12, "text-anchor": "end" }
            : { ...text, x: 12, y: top - 26 },
          base,
        ),
      );
    for (const { x, center, label } of axisTicks) {
      marks.push(make("line", { x1: left + x, x2: left + x, y1: top - 6, y2: top + height, stroke: grid }));
      if (label !== null) marks.push(make("text", { ...text, x: left + center, "text-anchor": "middle" }, label));
    }
    ticks.replaceChildren(...marks);
    const begin = start + BigInt(Math.ceil(first));
    const end = begin + BigInt(Math.round(span));
    duration.textContent = durationText(span, 4);
    dates.textContent = `${timestampText(begin, span / 1000)} – ${timestampText(end, span / 1000)}`;
  };
}

// Elements that must not be stretched: each function restores one of them when the plot is
// stretched by a factor.
function rigidElements(plot) {
  const keep = [];
  const still = (element, x) =>
    keep.push((by) => element.setAttribute("transform", `matrix(${1 / by} 0 0 1 ${x * (1 - 1 / by)} 0)`));
  for (const text of plot.querySelectorAll("text")) still(text, Number(text.getAttribute("x")));
  for (const rect of plot.querySelectorAll("rect[rx]")) {
    const radius = rect.getAttribute("rx");
    rect.setAttribute("ry", radius);
    keep.push((by) => rect.setAttribute("rx", radius / by));
  }
  for (const path of plot.querySelectorAll("path")) {
    const d = path.getAttribute("d");
    const n = d.match(/-?[\d.]+/g).map(Number);
    if (MARK.test(d)) still(path, n[0]);
    else if (path.hasAttribute("stroke-linejoin") && n.length === 10) {
      const scaleX = (x, by) => n[4] + (x - n[4]) / by;
      keep.push((by) =>
        path.setAttribute(
          "d",
          `M${n[0]} ${n[1]}L${scaleX(n[2], by)} ${n[3]}` +
            `M${n[4]} ${n[5]}L${scaleX(n[6], by)} ${n[7]}L${scaleX(n[8], by)} ${n[9]}Z`,
        ),
      );
    }
  }
  return keep;
}

// Moves the rows into a group. Returns a function that stretches the group to a visible part.
function createPlot({ width }) {
  const plot = make("g", {});
  plot.append(...rows.childNodes);
  rows.append(plot);
  const keep = rigidElements(plot);
  return ({ a, b }) => {
    const by = 1 / (b - a);
    plot.setAttribute("transform", `matrix(${by} 0 0 1 ${-a * by * width} 0)`);
    for (const adjust of keep) adjust(by);
  };
}

// The visible part: `a` and `b` are fractions of the whole time range. `draw` is called for each
// frame in which the part has changed.
function createView(draw) {
  let asked = 0;
  const view = { a: 0, b: 1, show, zoom: (by, at) => show(at - (at - view.a) * by, at + (view.b - at) * by) };
  function show(from, to) {
    const part = Math.min(Math.max(to - from, Math.max(1e-5, 20 / Number(span))), 1);
    view.a = Math.min(Math.max((from + to - part) / 2, 0), 1 - part);
    view.b = view.a + part;
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      draw(view);
    });
  }
  return view;
}

function listenToPointer(view, { left, width }) {
  const scale = () => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const share = (event) =>
    view.a +
    (view.b - view.a) *
      Math.min(Math.max(((event.clientX - svg.getBoundingClientRect().left) / scale() - left) / width, 0), 1);
  const move = (pixels) => {
    const by = (pixels / scale() / width) * (view.b - view.a);
    view.show(view.a + by, view.b + by);
  };

  svg.addEventListener(
    "wheel",
    (event) => {
      if (event.shiftKey || event.ctrlKey) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX);
      else view.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.0028), share(event));
    },
    { passive: false },
  );
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  let last = 0;
  svg.addEventListener("pointermove", (event) => {
    const moved = last - event.clientX;
    last = event.clientX;
    if (event.buttons & 1) move(moved);
  });
  svg.addEventListener("dblclick", () => view.show(0, 1));
}

function listenToKeys(view) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { a, b, show, zoom } = view;
    const move = (by) => show(a + by * (b - a), b + by * (b - a));
    const middle = (a + b) / 2;
    const act = {
      "+": () => zoom(1 / 1.5, middle),
      "=": () => zoom(1 / 1.5, middle),
      "-": () => zoom(1.5, middle),
      f: () => show(0, 1),
      ArrowLeft: () => move(-0.15),
      ArrowRight: () => move(0.15),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

function begin() {
  const area = areaOfRows();
  const drawRuler = createRuler(area);
  const drawPlot = createPlot(area);
  const view = createView((part) => {
    drawPlot(part);
    drawRuler(part);
  });
  listenToPointer(view, area);
  listenToKeys(view);
  drawRuler(view);
}

if (rows && Number(span) > 0) begin();
