import { Injectable } from '@nestjs/common';
import { DirectoryRepository } from './directory.repository.js';

export interface FoundMember {
  id: string;
  name: string;
  email: string;
}

/** Scores of members that match, and not only resemble the words. */
const MATCHING = 0.9;

/** The directory for other modules. */
@Injectable()
export class DirectoryApi {
  constructor(private readonly directory: DirectoryRepository) {}

  /** Active members whose name and address have words with these beginnings, the best first. */
  async members(tenantId: string, text: string, limit: number): Promise<FoundMember[]> {
    const rows = await this.directory.search(tenantId, text, { users: true, groups: false }, limit);
    return rows.flatMap(({ id, name, email, score }) =>
      email === null || score < MATCHING ? [] : [{ id, name, email }],
    );
  }
}
