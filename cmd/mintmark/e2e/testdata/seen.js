// Returns the visual faults of the page as a list of texts (WCAG 2.2 §§1.4.4, 1.4.10,
// 1.4.11). The file is one expression, which the tests evaluate.
(() => {
	const faults = [];
	const say = (what, e) => faults.push(`${what}: ${e.outerHTML.slice(0, 200)}`);
	const forced = matchMedia('(forced-colors: active)').matches;
	const wide = document.documentElement.clientWidth;
	const drawn = e => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
	const ancestors = e => {
		const list = [];
		for (; e && e !== document.documentElement; e = e.parentElement) list.push(e);
		return list;
	};
	// Elements for screen readers only, and the link that is visible when focused.
	const hidden = e => ancestors(e).some(a => getComputedStyle(a).clipPath !== 'none' || a.matches('.skip'));

	if (document.documentElement.scrollWidth > wide) faults.push(`the page scrolls: ${document.documentElement.scrollWidth} of ${wide} pixels`);

	// Text is inside the window, and inside elements that clip it or have a border.
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || e.matches('option, script, style, textarea') || !drawn(e) || hidden(e)) continue;
		if (e.closest('.tabs, pre[tabindex]')) continue; // they scroll sideways
		const popup = e.closest('.confirm > div, .drop > ul'); // it may reach beyond the box it opens from
		const range = document.createRange();
		range.selectNodeContents(n);
		const boxes = ancestors(e).filter(a => {
			const s = getComputedStyle(a);
			return s.display !== 'inline' && (s.overflowX !== 'visible' || s.overflowY !== 'visible' || a.matches('button, a.button, .pill, .count, .card') || !popup && a.matches('.box')) && !a.matches('.side');
		}).filter(a => a !== document.body).map(a => a.getBoundingClientRect());
		for (const r of range.getClientRects()) {
			if (r.left < -1 || r.right > wide + 1) say('text beyond the window', e);
			if (boxes.some(b => r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 3 || r.bottom > b.bottom + 3)) say('text cut off', e);
		}
	}

	// Controls have a visible edge, or a visible background unless the user has
	// chosen the colours.
	const channels = (colour, under) => {
		const m = colour.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/);
		const alpha = m ? Number(m[4] ?? 1) : 0;
		if (alpha === 0 || alpha < 1 && !under) return null;
		return m.slice(1, 4).map((v, i) => alpha * Number(v) + (alpha < 1 ? (1 - alpha) * under[i] : 0));
	};
	const luminance = c => {
		const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a, b) => {
		const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
		return (light + 0.05) / (dark + 0.05);
	};
	const ground = e => {
		for (const a of ancestors(e.parentElement)) {
			const c = channels(getComputedStyle(a).backgroundColor);
			if (c) return c;
		}
		return channels(getComputedStyle(document.documentElement).backgroundColor) ??
			(matchMedia('(prefers-color-scheme: dark)').matches && forced ? [0, 0, 0] : [255, 255, 255]);
	};
	const controls = 'button:not(.link), a.button, select, textarea, input:not([type=hidden], [type=checkbox], [type=radio])';
	for (const e of document.querySelectorAll(controls)) {
		if (!drawn(e)) continue;
		const s = getComputedStyle(e), under = ground(e);
		const edged = ['Top', 'Right', 'Bottom', 'Left'].every(side => {
			const c = channels(s[`border${side}Color`], under);
			return parseFloat(s[`border${side}Width`]) >= 1 && s[`border${side}Style`] !== 'none' && c && contrast(c, under) >= 3;
		});
		const fill = channels(s.backgroundColor, under);
		if (!edged && (forced || !fill || contrast(fill, under) < 3)) say('a control without an edge', e);
	}
	for (const e of document.querySelectorAll('input[type=checkbox], input[type=radio]')) {
		const r = e.getBoundingClientRect();
		if (drawn(e) && (getComputedStyle(e).appearance === 'none' || r.width < 12)) say('a control that the browser does not draw', e);
	}
	// The current page is marked by a background or a line, which forced colours remove.
	for (const e of document.querySelectorAll('.side [aria-current], .tabs [aria-current]')) {
		const s = getComputedStyle(e);
		if (forced ? !s.textDecorationLine.includes('underline') : !channels(e.closest('.side') ? s.backgroundColor : s.borderBottomColor)) say('the current page is not marked', e);
	}

	// Nothing moves if the user prefers reduced motion (WCAG 2.2 §2.3.3).
	if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
		if (document.getAnimations().length > 0) faults.push('something moves');
		for (const e of document.querySelectorAll('*')) {
			const s = getComputedStyle(e);
			if (s.animationName !== 'none' || s.transitionDuration.split(', ').some(d => parseFloat(d) > 0) || s.scrollBehavior !== 'auto') say('it may move', e);
		}
	}
	return [...new Set(faults)];
})()
