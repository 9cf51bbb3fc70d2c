import { type ImageFormat as KnownFormat, imageSize } from '../image-size/index.js';
import { xmlAttribute } from './xml.js';

/** The formats that all DOCX readers support. */
type ImageFormat = Exclude<KnownFormat, 'webp'>;

export interface DecodedImage {
  bytes: Uint8Array;
  format: ImageFormat;
  width: number;
  height: number;
}

const DATA_URI = /^\s*data:image\/[a-z+.-]+;base64,/i;
/** Maximum side in pixels. Larger images could exhaust the memory of the reader. */
const MAX_SIDE = 30_000;
const EMU_PER_PX = 9_525;
/** Height between the margins of a page, pixels. */
const MAX_HEIGHT = 900;

/**
 * Decodes the image of a `data:` URL. Format and size come from the bytes, not from the declared type. Undefined for formats other
 * than PNG, JPEG and GIF, which all DOCX readers support.
 */
export function decodeImage(source: string): DecodedImage | undefined {
  const head = DATA_URI.exec(source);
  if (!head) return undefined;
  const encoded = source
    .slice(head[0].length)
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bytes = Buffer.from(encoded, 'base64');
  const found = imageSize(bytes);
  if (!found || found.format === 'webp' || Math.max(found.width, found.height) > MAX_SIDE) return undefined;
  return { bytes, format: found.format, width: found.width, height: found.height };
}

/** The displayed size, pixels: the requested one, with the proportions of the image for a missing side, limited to the page. */
export function shownSize(
  image: Pick<DecodedImage, 'width' | 'height'>,
  requested: { width?: number; height?: number },
  maxWidth: number,
): { width: number; height: number } {
  const ratio = image.width / image.height;
  let width = requested.width || (requested.height ? requested.height * ratio : image.width);
  let height = requested.height || width / ratio;
  const shrink = Math.min(1, maxWidth / width, MAX_HEIGHT / height);
  width = Math.max(1, width * shrink);
  height = Math.max(1, height * shrink);
  return { width, height };
}

/** An inline picture. @param id unique among the pictures of the document */
export function pictureXml(
  id: number,
  relationship: string,
  size: { width: number; height: number },
  alt: string,
): string {
  const cx = Math.round(size.width * EMU_PER_PX);
  const cy = Math.round(size.height * EMU_PER_PX);
  const name = `id="${id}" name="Picture ${id}" descr="${xmlAttribute(alt)}"`;
  return (
    `<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="${cx}" cy="${cy}"/>` +
    `<wp:docPr ${name}/><wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr>` +
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>' +
    `<pic:nvPicPr><pic:cNvPr ${name}/><pic:cNvPicPr/></pic:nvPicPr>` +
    `<pic:blipFill><a:blip r:embed="${relationship}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>` +
    `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="${cx}" cy="${cy}"/></a:xfrm>` +
    '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
  );
}
