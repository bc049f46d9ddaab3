// Transcripts in workerd, which compiles no modules while it runs: they are imported. A request has a transcript as its body.
import samedeal from 'samedeal';
import { replay } from './replay.mjs';

export default {
  async fetch(request) {
    return Response.json(replay(await request.text(), { samedeal }));
  },
};
