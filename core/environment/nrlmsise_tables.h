/* The coefficients of NRLMSISE-00, by the names of its source; see nrlmsise_tables.c. [any] */
#ifndef ORR_CORE_ENVIRONMENT_NRLMSISE_TABLES_H
#define ORR_CORE_ENVIRONMENT_NRLMSISE_TABLES_H

extern const double orr_nrlmsise_pt[150];
extern const double orr_nrlmsise_pd[9][150];
extern const double orr_nrlmsise_ps[150];
extern const double orr_nrlmsise_pdl[2][25];
extern const double orr_nrlmsise_ptm[10];
extern const double orr_nrlmsise_pdm[8][10];
extern const double orr_nrlmsise_ptl[4][100];
extern const double orr_nrlmsise_pma[10][100];
extern const double orr_nrlmsise_pavgm[10];

#endif
