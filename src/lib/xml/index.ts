export { ENTITIES, NOT_XML, xmlText, formatXml, XML_NAMESPACE } from './writer.js';
export {
  readXml,
  type XmlAttribute,
  type XmlElement,
  XmlError,
  type XmlErrorCode,
  type XmlLimits,
} from './reader.js';
