export { ENTITIES, NOT_XML } from './characters.js';
export { xmlText } from './escape.js';
export { readXml, type XmlElement, XmlError, type XmlErrorCode, type XmlLimits } from './reader.js';
