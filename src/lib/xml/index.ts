export { ENTITIES, NOT_XML } from './characters.js';
export { xmlText } from './escape.js';
export {
  readXml,
  type XmlAttribute,
  type XmlElement,
  XmlError,
  type XmlErrorCode,
  type XmlLimits,
} from './reader.js';
export { formatXml, XML_NAMESPACE } from './writer.js';
