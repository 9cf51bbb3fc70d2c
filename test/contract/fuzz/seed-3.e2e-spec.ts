import { fuzzDocumentedResponses } from './fuzz.ts';

describe('every response is as documented, for any request', () => fuzzDocumentedResponses(3));
