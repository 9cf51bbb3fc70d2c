import colorString from 'color-string';

/** The names of CSS Color Module Level 3, 4.3. If a colour has several names, one is here. */
const NAMES =
  'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson darkblue darkcyan darkgoldenrod darkgray darkgreen darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkturquoise darkviolet deeppink deepskyblue dimgray dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightpink lightsalmon lightseagreen lightskyblue lightslategray lightsteelblue lightyellow lime limegreen linen maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen'.split(
    ' ',
  );

type Rgb = readonly number[];

const rgbOf = (css: string): Rgb => colorString.get.rgb(css) ?? [];

const COLORS = NAMES.map((name) => ({ name, rgb: rgbOf(name) }));

/** @returns `#rrggbb` in lower case; null when no colour has the name */
export function colorOfName(text: string): string | null {
  const name = text.trim().toLowerCase();
  const [red, green, blue, opacity] = /^[a-z]+$/.test(name) ? rgbOf(name) : [];
  if (red === undefined || green === undefined || blue === undefined || opacity === 0) return null;
  return colorString.to.hex(red, green, blue)?.toLowerCase() ?? null;
}

const MAX_REMEMBERED = 1_000;
/** A file names the colour of a calendar for each of its events. */
const nearest = new Map<string, string>();

/** The name of the nearest colour. @param color `#rrggbb` */
export function nearestColorName(color: string): string {
  const known = nearest.get(color);
  if (known !== undefined) return known;
  if (nearest.size >= MAX_REMEMBERED) nearest.clear();
  const name = nearestOf(color);
  nearest.set(color, name);
  return name;
}

function nearestOf(color: string): string {
  const rgb = rgbOf(color);
  const distance = (other: Rgb): number =>
    [0, 1, 2].reduce((sum, i) => sum + ((rgb[i] ?? 0) - (other[i] ?? 0)) ** 2, 0);
  return COLORS.reduce((best, each) => (distance(each.rgb) < distance(best.rgb) ? each : best)).name;
}
