/**
 * Builds the page out of elements.
 *
 * Rule: what comes from outside is only ever set as text or as an attribute that holds text; no markup is made of it.
 */

const SVG = "http://www.w3.org/2000/svg";
/** Said in full, since a table that is laid out as cards is none to some browsers. */
const TABLE_ROLES = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell" };
const HEAD_ROLES = { col: "columnheader", row: "rowheader" };

/**
 * An element.
 *
 * @param {string} tag
 * @param {object} given Attributes; `on` holds listeners, `css` custom properties and styles. `false`, `null` and
 *   `undefined` leave an attribute out, `true` sets it empty.
 * @param {...(Node|string|number|null|undefined|false|Array)} children
 */
export function h(tag, given = {}, ...children) {
  const role = tag === "th" ? HEAD_ROLES[given.scope] : TABLE_ROLES[tag];
  return filled(document.createElement(tag), role ? { role, ...given } : given, children);
}

/** The same for an SVG element. */
export function svg(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

/** Everything in *parent* replaced by *children*. */
export function show(parent, ...children) {
  parent.replaceChildren(...flat(children));
  return parent;
}

function filled(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (name === "css") for (const [key, set] of Object.entries(value)) element.style.setProperty(key, set);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}
