import { ANSWER_LIMITS, type AnswerFile } from '../definition.js';
import { compact, isObject } from '../fields.js';
import { type Kind, problem, text } from './kind.js';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const CONTENT_TYPE = /^[a-z]+\/(?:\*|[\w.+-]+)$/;

/** True or false. Where it is required, it must be true. */
export const CONSENT: Kind = {
  comparison: 'boolean',
  summary: 'boolean',
  check: ({ required }, value) => {
    if (typeof value !== 'boolean') return problem('is_boolean', 'must be true or false');
    return required && !value ? problem('required', 'must be accepted') : { answer: value };
  },
  cells: (_question, answer) => [{ kind: 'boolean', value: answer as boolean }],
};

/** `{ upload_ids }` on submission; the stored answer has the names, sizes and types of the files. */
export const FILE: Kind = {
  comparison: 'none',
  summary: 'files',
  parse: (fields) => {
    const settings = fields.object('settings');
    if (!settings) return {};
    const types = settings.entries('content_types', 50);
    if (types.some((type) => typeof type !== 'string' || type.length > 100 || !CONTENT_TYPE.test(type)))
      settings.problem('content_types', 'is_content_type', 'must contain types such as image/png or image/*');
    return {
      settings: compact({
        max_files: settings.integer('max_files', 1, ANSWER_LIMITS.files),
        max_bytes: settings.integer('max_bytes', 1, ANSWER_LIMITS.fileBytes),
        content_types: types.length > 0 ? (types as string[]) : undefined,
      }),
    };
  },
  check: ({ settings }, value) => {
    const ids: unknown = isObject(value) ? value['upload_ids'] : undefined;
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string' && UUID.test(id)))
      return problem('is_upload', 'must have upload_ids with ids of uploads');
    const uploads = ids.map((id: string) => id.toLowerCase());
    if (new Set(uploads).size < uploads.length) return problem('unique', 'must name each upload once');
    const max = settings?.max_files ?? 1;
    if (uploads.length > max) return problem('max_files', `must have at most ${max} files`);
    return { answer: { upload_ids: uploads } };
  },
  cells: (_question, answer) => [
    text(((answer as { files?: AnswerFile[] }).files ?? []).map(({ name }) => name).join('; ')),
  ],
};

/** Text without an answer. */
export const SECTION_TEXT: Kind = {
  comparison: 'none',
  summary: 'text',
  check: () => problem('not_answerable', 'takes no answer'),
  columns: () => [],
  cells: () => [],
};
