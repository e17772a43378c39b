// The categories that the user assigned to values: busy, overhead, idle or ignored. The server keeps
// them for the next run of the program.

/** The numbers of values with their category. @type {Map<number, string>} */
export const assigned = new Map();

/** The assigned categories in the format of requests. */
export function categoryParameter() {
  return assigned.size ? JSON.stringify([...assigned]) : "";
}
