// Restores the drawing of a card from the changes of an earlier one (api/cards/scene_changes.rs).

/** The form of a curve that is relative to the curve before. */
const RELATIVE_CURVE = 4;

/**
 * A scene with the parts that it has in common with an earlier one.
 * @param {any} scene
 * @param {any} earlier
 */
export function completeScene(scene, earlier) {
  /** @type {Record<string, any[]>} */
  const tables = {};
  for (const [kind, table] of Object.entries(scene.tables)) {
    const before = earlier.tables[kind] ?? [[], [], []];
    const columns = (/** @type {number} */ group) =>
      table[group].map((/** @type {any} */ column, /** @type {number} */ index) => column ?? before[group][index]);
    let place = 0;
    const start = [0, 0];
    const curve = (/** @type {any} */ item) => {
      if (!Array.isArray(item) || item[2] === RELATIVE_CURVE) return item;
      const axes = start.map((_, axis) =>
        item[axis].length ? [(start[axis] += item[axis][0]), ...item[axis].slice(1)] : [],
      );
      return [...axes, ...item.slice(2)];
    };
    const last =
      table[2]?.map((/** @type {any} */ item) =>
        typeof item === "number" ? before[2][(place += item)] : curve(item),
      ) ?? before[2];
    tables[kind] = [columns(0), columns(1), last];
  }
  return { ...scene, paints: scene.paints ?? earlier.paints, runs: scene.runs ?? earlier.runs, tables };
}

/**
 * The places of marks with the values that they have in common with earlier ones.
 * @param {any[]} regions
 * @param {any[]} earlier
 */
export function completeRegions(regions, earlier) {
  return regions.map((region, index) =>
    Object.fromEntries(Object.entries({ ...earlier[index], ...region }).filter(([, value]) => value !== null)),
  );
}
