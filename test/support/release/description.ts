import type pg from 'pg';

/** The protocol messages of `pg` that a description needs; its declared type leaves them out. */
interface Wire {
  on(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
  off(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
  parse(statement: { name: string; text: string; types: number[] }): void;
  describe(target: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Type ids of the parameters; names and type ids of the columns of the result. */
export interface Described {
  parameters: number[];
  results: { name: string; type: number }[];
}

/**
 * Prepares a statement, without executing it. Unlike PREPARE it accepts every kind of statement and returns the names
 * of the result's columns.
 * @throws the error of PostgreSQL for a statement that is not valid
 */
export function describeStatement(client: pg.Client, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    const described: Described = { parameters: [], results: [] };
    const onParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }): void => {
      described.parameters = dataTypeIDs;
    };
    // Submitted by the client when the connection is ready. The methods are those that the client calls.
    client.query({
      submit(connection: unknown) {
        const wire = connection as Wire;
        wire.on('parameterDescription', onParameters);
        wire.parse({ name: '', text, types: [] });
        wire.describe({ type: 'S', name: '' });
        wire.sync();
      },
      handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
        described.results = fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));
      },
      handleReadyForQuery(connection: unknown) {
        (connection as Wire).off('parameterDescription', onParameters);
        resolve(described);
      },
      handleError(error: Error, connection: unknown) {
        (connection as Wire).off('parameterDescription', onParameters);
        reject(error);
      },
    } as pg.Submittable);
  });
}
