export { foldedWords, foldLoosely, nameWords, replaceJoiners } from './compounds.js';
export { fold, readerLexeme } from './tokens.js';
export { beginningSnippet, highlight, snippet } from './highlight.js';
export { indexDocument, type IndexedDocument, SEARCH_RULES, vectorOf } from './index-document.js';
export { MAX_QUERY, MAX_TERMS, SearchQuery } from './search-query.js';
