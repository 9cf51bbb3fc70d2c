/** Loaded on first use: few processes need it. */
const library = async () => (await import('qrcode')).default;

/** @returns a PNG image as data URL */
export async function qrPng(text: string): Promise<string> {
  return (await library()).toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 4 });
}

/** @returns an SVG element for a page whose policy allows no images */
export async function qrSvg(text: string): Promise<string> {
  return (await library()).toString(text, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 });
}
