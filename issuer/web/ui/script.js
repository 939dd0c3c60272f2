// The one script of the shell. Pages work without it: each block improves the
// elements that its attribute marks. Whole-line comments are removed when it
// is served.
(() => {
	'use strict';
	const doc = document, all = (s, f) => doc.querySelectorAll(s).forEach(f), id = s => doc.getElementById(s);
	const on = (e, type, f) => e.addEventListener(type, f);
	const say = text => setTimeout(() => id('live').textContent = text, 100);

	// Copy the text of an element, or select it where the clipboard is closed.
	all('[data-copy]', b => {
		const word = b.firstChild;
		b.hidden = false;
		on(b, 'click', async () => {
			const e = id(b.dataset.copy);
			try {
				await navigator.clipboard.writeText(e.textContent);
				say(word.data = 'Copied');
				setTimeout(() => word.data = 'Copy', 2000);
			} catch {
				getSelection().selectAllChildren(e);
				say('Selected');
			}
		});
	});

	// One submission of each form that changes something.
	let dirty = false;
	on(doc, 'submit', e => {
		const f = e.target;
		if (f.method !== 'post' || e.defaultPrevented) return;
		if (f.dataset.sent) return e.preventDefault();
		f.dataset.sent = 1;
		dirty = false;
		if ('draft' in f.dataset) sessionStorage.removeItem(key);
		f.querySelectorAll('button').forEach(b => b.ariaDisabled = true);
	});
	on(window, 'pageshow', () => all('form[data-sent]', f => {
		delete f.dataset.sent;
		f.querySelectorAll('button').forEach(b => b.ariaDisabled = null);
	}));

	all('[data-reveal]', b => {
		const e = id(b.dataset.reveal);
		b.hidden = false;
		on(b, 'click', () => {
			const show = e.type === 'password';
			e.type = show ? 'text' : 'password';
			b.firstChild.textContent = show ? 'Hide' : 'Show';
		});
	});

	// Times: in the zone of the device if the user has none, and relative ones
	// kept up to date. The words are those of Clock.At.
	const local = doc.documentElement.dataset.zone === '';
	const ago = ms => {
		const s = Math.abs(ms) / 1000 | 0;
		if (s < 60) return 'just now';
		if (s >= 604800) return;
		const [n, unit] = s < 3600 ? [s / 60 | 0, 'min'] : s < 86400 ? [s / 3600 | 0, 'hour'] : [s / 86400 | 0, 'day'];
		const text = n + ' ' + unit + (n > 1 && unit !== 'min' ? 's' : '');
		return ms < 0 ? 'in ' + text : text + ' ago';
	};
	const times = () => all('time[data-ago], time[data-exact]', e => {
		const at = new Date(e.dateTime);
		if (local) {
			const text = at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
			e.title = text;
			if ('exact' in e.dataset) e.textContent = text;
		}
		const text = 'ago' in e.dataset && ago(Date.now() - at);
		if (text) e.textContent = text;
	});
	times();
	setInterval(times, 60000);

	// Lists of inputs: the empty ones appear one by one.
	all('[data-rows]', r => {
		const more = r.querySelector('details'), add = r.querySelector('[data-add]');
		if (!more) return;
		const spare = [...more.querySelectorAll('.field')].filter(f => !f.querySelector('input').value);
		spare.forEach(f => f.hidden = true);
		more.open = true;
		more.firstElementChild.hidden = add.hidden = true;
		add.hidden = !spare.length;
		on(add, 'click', () => {
			const f = spare.shift();
			f.hidden = false;
			f.querySelector('input').focus();
			add.hidden = !spare.length;
		});
	});

	all('[data-filter]', f => {
		f.hidden = false;
		on(f, 'input', e => all(`#${f.dataset.filter} tbody tr, li#${f.dataset.filter}`, r => {
			r.hidden = !r.textContent.toLowerCase().includes(e.target.value.trim().toLowerCase());
		}));
	});

	all('[data-mirror]', e => {
		const to = id(e.dataset.mirror), was = to.textContent;
		on(e, 'input', () => to.textContent = e.value.trim() || was);
	});

	// Drafts: the text of a long form, kept for this session only.
	const session = doc.body.dataset.key, key = 'draft:' + location.pathname;
	for (const k of Object.keys(sessionStorage)) {
		if (k.startsWith('draft:') && JSON.parse(sessionStorage[k])[0] !== session) sessionStorage.removeItem(k);
	}
	all('form[data-draft]', f => {
		const fields = [...f.elements].filter(e => e.name && !/^(hidden|password|file|submit)$/.test(e.type) && !('secret' in e.dataset));
		const values = () => fields.map(e => /^(checkbox|radio)$/.test(e.type) ? e.checked : e.value);
		const kept = JSON.parse(sessionStorage[key] ?? '[]')[1], offer = f.querySelector('[data-restore]');
		if (kept?.length === fields.length && kept + '' !== values() + '') {
			offer.hidden = false;
			on(offer.querySelector('button'), 'click', () => {
				fields.forEach((e, n) => e[typeof kept[n] === 'boolean' ? 'checked' : 'value'] = kept[n]);
				offer.hidden = dirty = true;
				fields[0].focus();
			});
		}
		on(f, 'input', () => {
			dirty = true;
			if (session) sessionStorage[key] = JSON.stringify([session, values()]);
		});
	});
	on(window, 'beforeunload', e => dirty && e.preventDefault());

	// A notice was there before the screen reader listened.
	all('.notice', e => say(e.textContent));
	all('.tabs [aria-current]', e => e.scrollIntoView({ block: 'nearest', inline: 'center' }));

	const floats = 'details.drop[open], details.confirm[open], details.menu[open]';
	on(doc, 'click', e => all(floats, d => d.contains(e.target) || d.matches('.menu') || (d.open = false)));
	on(doc, 'keydown', e => e.key === 'Escape' && all(floats, d => {
		if (d.contains(doc.activeElement)) d.firstElementChild.focus();
		d.open = false;
	}));
})();
